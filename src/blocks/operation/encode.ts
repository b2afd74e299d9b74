import type { ValueSchema } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { fileToSend } from '../api/files.ts'

export type EncodeContext = Pick<BlockContext, 'files' | 'fetch' | 'signal'>

/** The value of a parameter as it is sent: encoded, or with the entries of a list joined. Throws `BlockError`. */
export async function encodedValue(
  name: string,
  schema: ValueSchema,
  value: unknown,
  context: EncodeContext,
  timeoutMs: number,
): Promise<unknown> {
  switch (schema.encode) {
    case 'base64':
    case 'base64url':
      return Buffer.from(await bytesOf(name, value, context, timeoutMs)).toString(schema.encode)
    case 'rfc822': {
      const { mimeMessage } = await import('./mime-message.ts')
      return Buffer.from(await mimeMessage(value, context, timeoutMs)).toString('base64url')
    }
    default:
      if (schema.join === undefined || !Array.isArray(value)) return value
      return value.map(asText).join(schema.join)
  }
}

/** The content of a file object, or the UTF-8 bytes of a text. */
async function bytesOf(name: string, value: unknown, context: EncodeContext, timeoutMs: number): Promise<Uint8Array> {
  if (typeof value === 'string') return new TextEncoder().encode(value)
  if (isObject(value) && typeof value['url'] === 'string') {
    const { content } = await fileToSend(value, name, context, timeoutMs)
    return new Uint8Array(await content.arrayBuffer())
  }
  throw new BlockError('INVALID_PARAMETER', `${name} must be a text or a file.`)
}
