import type { Mail } from '../../domain/mail/mail.ts'
import type { ModelTool } from '../../domain/run/model-call.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { toolName } from '../agent-tool-parameters.ts'
import { sendEmail } from '../email.ts'
import { addressReader } from './read-mail.ts'

/** E-mail as the tool of a model. The author sets the sender, and the only addresses that can receive a message. */
export type EmailTool = {
  type: 'email'
  name?: string
  description?: string
  credential: string
  from: string
  recipients: string
}

export function describeEmail(tool: EmailTool): ModelTool {
  const { description = 'Sends an e-mail.' } = tool
  return { name: toolName(tool), description, parameters: parametersOf(tool) }
}

/** Sends a message to allowed recipients only. The model receives what the server answered. Throws `BlockError`. */
export async function callEmail(tool: EmailTool, args: Record<string, unknown>, context: BlockContext) {
  const invalid = await context.models.checkJson(parametersOf(tool), args)
  if (invalid) throw new BlockError('INVALID_ARGUMENTS', `The arguments do not fit the tool: ${invalid}`)
  const { to, subject, text } = args as { to: string[]; subject: string; text: string }
  const read = await addressReader()
  const allowed = new Set(read('recipients', tool.recipients).map(({ address }) => address.toLowerCase()))
  const { outputs, error } = await sendEmail(
    { credential: tool.credential, from: tool.from, to, subject, text },
    context,
    { messageKey: messageKeyOf(args, context), assertAllowed: (mail) => assertAllowed(mail, allowed) },
  )
  if (error) throw new BlockError(error.code, error.message)
  return { accepted: outputs['accepted'], rejected: outputs['rejected'] }
}

function assertAllowed({ to }: Mail, allowed: ReadonlySet<string>): void {
  const refused = to.find(({ address }) => !allowed.has(address.toLowerCase()))
  if (!refused) return
  const message = `This tool must not send e-mails to ${refused.address}. It may send them to: ${[...allowed].join(', ')}.`
  throw new BlockError('RECIPIENT_REFUSED', message)
}

/** A model may write something else when a run repeats its call. That is another message, not a copy of the first. */
function messageKeyOf(args: Record<string, unknown>, context: BlockContext): string {
  const text = JSON.stringify([context.idempotencyKey(), args])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 32)
}

function parametersOf({ recipients }: EmailTool): Record<string, unknown> {
  const to = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 }
  return {
    type: 'object',
    properties: {
      to: { ...to, description: `The addresses of the recipients. Only these are allowed: ${recipients}` },
      subject: { type: 'string', description: 'The subject.' },
      text: { type: 'string', description: 'The message as plain text.' },
    },
    required: ['to', 'subject', 'text'],
    additionalProperties: false,
  }
}
