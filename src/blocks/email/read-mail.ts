import { type Mail, type MailAddress, type MailAttachment, mailBounds } from '../../domain/mail/mail.ts'
import { mailAddressProblem, plainMailAddress } from '../../domain/mail/mail-address.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { fileToSend } from '../api/files.ts'
import { textOfHtml } from './text-of-html.ts'

export type WrittenMail = {
  from: string
  to?: unknown
  cc?: unknown
  bcc?: unknown
  replyTo?: unknown
  subject: string
  text?: string
  html?: string
  attachments?: unknown
  timeoutMs: number
}

/** The message that the parameters of a block describe, checked. Throws `BlockError`. */
export async function readMail(
  written: WrittenMail,
  context: Pick<BlockContext, 'files' | 'fetch' | 'signal' | 'inSlices' | 'idempotencyKey'>,
  messageKey = context.idempotencyKey(),
): Promise<Mail> {
  const read = await addressReader()
  const [from, ...others] = read('from', written.from)
  if (!from || others.length > 0) throw invalid('from must be one e-mail address.')
  const [to, cc, bcc] = [read('to', written.to), read('cc', written.cc), read('bcc', written.bcc)]
  const recipients = to.length + cc.length + bcc.length
  if (recipients === 0) throw invalid('The e-mail has no recipient. Set to, cc or bcc.')
  const { recipientsMax } = mailBounds
  if (recipients > recipientsMax)
    throw invalid(`The e-mail has ${recipients} recipients. At most ${recipientsMax} are allowed.`)
  const { text = '', html = '' } = written
  const body = await bodyOf(text, html, context)
  return {
    ...{ from, to, cc, bcc, replyTo: read('replyTo', written.replyTo), subject: subjectOf(written.subject), ...body },
    attachments: await attachmentsOf(written.attachments, written.timeoutMs, context),
    messageId: `<${messageKey}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
  }
}

/** Reads addresses as people write them: several in a text, or a list of texts. Throws `BlockError`. */
export async function addressReader(): Promise<(name: string, value: unknown) => MailAddress[]> {
  const { default: parse } = await import('nodemailer/lib/addressparser/index.js')
  return (name, value) => addressesIn(name, value, (text) => parse(text, { flatten: true }))
}

type Parse = (text: string) => readonly MailAddress[]

function addressesIn(name: string, value: unknown, parse: Parse): MailAddress[] {
  const texts = (Array.isArray(value) ? (value as unknown[]) : [value]).map(asText)
  const { recipientsMax } = mailBounds
  const tooMany = () => invalid(`${name} has more than ${recipientsMax} addresses.`)
  if (texts.length > recipientsMax) throw tooMany()
  const found: MailAddress[] = []
  for (const text of texts) {
    if (text.length > addressesCharsMax) throw invalid(`${name} is longer than ${addressesCharsMax} characters.`)
    if (text.trim() === '') continue
    // A line break begins another header.
    if (/\p{Cc}/u.test(text)) throw invalid(`${name} must not contain line breaks or control characters.`)
    const read = parse(text)
    // Before they are checked, as a long list of texts takes a second.
    if (found.length + read.length > recipientsMax) throw tooMany()
    for (const { name: shownName, address } of read) {
      const problem = mailAddressProblem(address === '' ? shownName || text : address)
      if (problem !== undefined) throw invalid(`${name}: ${problem}`)
      found.push({ name: shownName, address: plainMailAddress(address) })
    }
  }
  return found
}

const addressesCharsMax = 50_000

function subjectOf(subject: string): string {
  const { subjectCharsMax } = mailBounds
  if (subject.length > subjectCharsMax) throw invalid(`The subject is longer than ${subjectCharsMax} characters.`)
  return subject.replaceAll(/\p{Cc}+/gu, ' ').trim()
}

async function bodyOf(text: string, html: string, { inSlices }: Pick<BlockContext, 'inSlices'>) {
  const { bodyCharsMax } = mailBounds
  for (const [name, value] of Object.entries({ text, html })) {
    if (value.length > bodyCharsMax)
      throw invalid(
        `${name} has ${value.length} characters. At most ${bodyCharsMax} are allowed. Attach a file instead.`,
      )
  }
  if (html === '') return { text }
  return { html, text: text === '' ? await inSlices(textOfHtml(html)) : text }
}

async function attachmentsOf(
  value: unknown,
  timeoutMs: number,
  context: Pick<BlockContext, 'files' | 'fetch' | 'signal'>,
): Promise<MailAttachment[]> {
  if (value === undefined || value === null || value === '') return []
  const files = Array.isArray(value) ? (value as unknown[]) : [value]
  const { attachmentsMax, attachmentBytesMax } = mailBounds
  if (files.length > attachmentsMax)
    throw invalid(`The e-mail has ${files.length} attachments. At most ${attachmentsMax} are allowed.`)
  const attachments: MailAttachment[] = []
  let bytes = 0
  // One after the other, so that a list of large files stops at the limit.
  for (const [index, file] of files.entries()) {
    const { content, name, type } = await fileToSend(file, `Attachment ${index + 1}`, context, timeoutMs)
    bytes += content.size
    if (bytes > attachmentBytesMax)
      throw invalid(`The attachments have more than ${attachmentBytesMax} bytes. Send a link instead.`)
    attachments.push({ name, type, content })
  }
  return attachments
}

function invalid(message: string): BlockError {
  return new BlockError('INVALID_PARAMETER', message)
}
