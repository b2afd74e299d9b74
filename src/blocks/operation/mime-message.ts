import { isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { fileToSend } from '../api/files.ts'

/**
 * A mail as MIME text (RFC 5322), from `{ to, cc, bcc, from, replyTo, subject, text, html, attachments, headers }`.
 * Attachments are file objects. Throws `BlockError`.
 */
export async function mimeMessage(
  mail: unknown,
  context: Pick<BlockContext, 'files' | 'fetch' | 'signal'>,
  timeoutMs: number,
): Promise<Uint8Array> {
  if (!isObject(mail))
    throw new BlockError('INVALID_PARAMETER', 'The message must be an object with to, subject and text.')
  const { attachments = [] } = mail
  const files = await Promise.all(
    (Array.isArray(attachments) ? (attachments as unknown[]) : [attachments]).map(async (file, index) => {
      const { content, name, type } = await fileToSend(file, `Attachment ${index + 1}`, context, timeoutMs)
      return { filename: name, contentType: type, content: Buffer.from(await content.arrayBuffer()) }
    }),
  )
  const texts = Object.fromEntries(
    ['from', 'subject', 'text', 'html', 'inReplyTo', 'references'].flatMap((name) => {
      const text = asText(mail[name])
      return text === '' ? [] : [[name, text]]
    }),
  )
  const addresses = Object.fromEntries(
    ['to', 'cc', 'bcc', 'replyTo'].flatMap((name) => {
      const list = addressesIn(mail[name])
      return list.length === 0 ? [] : [[name, list]]
    }),
  )
  // Loaded on first use, because few workflows send mail.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer/index.js')
  const options = { ...texts, ...addresses, attachments: files, ...sealed }
  const node = new MailComposer(options).compile()
  // The provider removes the header after it has read the recipients.
  Object.assign(node, { keepBcc: true })
  return await node.build()
}

/** A template must not make the library read files or URLs of its own choice. */
const sealed = { disableFileAccess: true, disableUrlAccess: true }

function addressesIn(value: unknown): string[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value]
  return list.map(asText).filter((address) => address !== '')
}
