import { type Static, Type as t } from '@sinclair/typebox'
import { type Mail, MailError } from '../domain/mail/mail.ts'
import type { SpanAttempt } from '../domain/run/log.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { readMail } from './email/read-mail.ts'
import { pauseBeforeRetry, spanAttempt } from './retry.ts'

const Parameters = t.Object({
  credential: t.String({
    minLength: 1,
    title: 'Credential',
    description: 'The name of a credential of the kind smtp. It describes the mail server.',
  }),
  from: t.String({ minLength: 1, title: 'From', description: 'Such as shop@example.com, or Shop <shop@example.com>.' }),
  to: addresses('To', 'Addresses, separated by commas, or a list of them.'),
  cc: addresses('Cc', 'Further recipients. All recipients can see them.'),
  bcc: addresses('Bcc', 'Recipients that the others cannot see.'),
  replyTo: addresses('Reply to', 'The addresses for replies, if not the sender.'),
  subject: t.String({ title: 'Subject' }),
  text: t.Optional(
    t.String({
      title: 'Text',
      description: 'The message as plain text. If it is empty, the block makes it from the HTML.',
    }),
  ),
  html: t.Optional(t.String({ title: 'HTML', description: 'The message as HTML.' })),
  attachments: t.Optional(
    t.Unknown({ title: 'Attachments', description: 'A file or a list of files, such as <start.documents>.' }),
  ),
  timeoutMs: t.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Time limit of one attempt, in milliseconds.',
  }),
  retries: t.Integer({
    default: 2,
    minimum: 0,
    maximum: 10,
    title: 'Retries',
    description: 'Further attempts after a temporary failure, if the server has certainly not accepted the message.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/**
 * Sends an e-mail. A message is sent again only if the server has certainly not accepted it. After a crash, the block
 * sends the same message ID again, so that servers can recognise a copy.
 */
export const email = defineBlock({
  type: 'email',
  label: 'E-mail',
  description: 'Sends an e-mail over a mail server (SMTP).',
  kind: 'step',
  parameters: Parameters,
  outputs: ['messageId', 'accepted', 'rejected', 'error'],
  mayFail: true,
  run: (params, context) => run(params, context),
})

/**
 * Sends an e-mail as a tool does: with the usual settings. `messageKey`: identifies the message for servers.
 * `assertAllowed`: throws `BlockError` if the message must not be sent.
 */
export async function sendEmail(
  mail: Omit<Parameters, 'timeoutMs' | 'retries' | 'onError'>,
  context: BlockContext,
  options: SendOptions,
): Promise<BlockResult> {
  return await run({ ...mail, timeoutMs: 60_000, retries: 2, onError: 'stop' }, context, options)
}

type SendOptions = { messageKey: string; assertAllowed(mail: Mail): void }

async function run(params: Parameters, context: BlockContext, options?: SendOptions): Promise<BlockResult> {
  const attempts: SpanAttempt[] = []
  try {
    const mail = await readMail(params, context, options?.messageKey)
    options?.assertAllowed(mail)
    for (;;) {
      const startedAt = context.clock.now()
      const from = context.clock.monotonic()
      try {
        const { messageId, accepted, rejected } = await context.sendMail(mail, params.credential, params.timeoutMs)
        attempts.push(spanAttempt(attempts.length + 1, startedAt, context.clock.monotonic() - from, {}))
        context.note({ attempts })
        return { outputs: { messageId, accepted, rejected, error: null } }
      } catch (thrown) {
        if (!(thrown instanceof MailError)) throw thrown
        const { status, message } = thrown
        attempts.push(
          spanAttempt(attempts.length + 1, startedAt, context.clock.monotonic() - from, { status, message }),
        )
        const isLast = !thrown.mayRepeat || attempts.length > params.retries
        if (isLast || (await pauseBeforeRetry(attempts.length, undefined, context)) !== 'again') throw thrown
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof MailError || thrown instanceof BlockError)) throw thrown
    context.note({ attempts })
    const status = thrown instanceof MailError && thrown.status !== undefined ? { status: thrown.status } : {}
    const error = { code: thrown.code, message: thrown.message, ...status, attempts: attempts.length }
    return { outputs: { messageId: null, accepted: null, rejected: null, error }, error }
  }
}

function addresses(title: string, description: string) {
  return t.Optional(t.Unknown({ title, description }))
}
