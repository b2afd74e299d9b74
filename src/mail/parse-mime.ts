import PostalMime, { type Address, type Attachment } from 'postal-mime'
import type { MailAddress } from '../domain/mail/mail.ts'
import { type ReceivedFile, type ReceivedMail, receivedBounds } from '../domain/mail/mailbox.ts'
import { cleanName, fileBytesMax, mediaTypeOf, unknownMediaType } from '../domain/run/file.ts'
import type { MimeQuestion } from './mime.ts'

/** Parses a message. Rejects when it is nested too deeply, or its headers are too long. */
export async function parseMime({ source, withFiles }: MimeQuestion): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(source as Uint8Array<ArrayBuffer>, {
    ...{ attachmentEncoding: 'arraybuffer', maxNestingDepth: 30, maxHeadersSize: 262_144 },
  })
  const { bodyCharsMax, attachmentsMax } = receivedBounds
  const { text = '', html = '', subject = '', messageId = '', inReplyTo = '', date = '' } = mail
  const sent = Date.parse(date)
  const problems: string[] = []
  if (Math.max(text.length, html.length) > bodyCharsMax) problems.push('The text was too long and is cut off.')
  const files = withFiles ? mail.attachments : []
  const kept = files
    .slice(0, attachmentsMax)
    .map(fileOf)
    .filter(({ content }) => content.byteLength <= fileBytesMax)
  if (kept.length < files.length) problems.push(`${files.length - kept.length} attachments were too many or too large.`)
  return {
    ...{ from: addressesOf([mail.from])[0], to: addressesOf(mail.to), cc: addressesOf(mail.cc) },
    ...{ replyTo: addressesOf(mail.replyTo), subject: oneLine(subject), messageId: oneLine(messageId) },
    ...{ inReplyTo: oneLine(inReplyTo), date: Number.isNaN(sent) ? undefined : sent },
    ...{ text: text.slice(0, bodyCharsMax).toWellFormed(), html: html.slice(0, bodyCharsMax).toWellFormed() },
    ...{ attachments: kept, problem: problems.length > 0 ? problems.join(' ') : null },
  }
}

function addressesOf(list: readonly (Address | undefined)[] | undefined): MailAddress[] {
  const flat = (list ?? []).flatMap((each) => (each?.group ? each.group : [each]))
  return flat.slice(0, receivedBounds.addressesMax).flatMap((each) => {
    const address = oneLine(each?.address ?? '')
    return address === '' ? [] : [{ name: oneLine(each?.name ?? ''), address }]
  })
}

function fileOf({ filename, mimeType, content }: Attachment): ReceivedFile {
  const type = mediaTypeOf(mimeType) ?? unknownMediaType
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
  return { name: cleanName(filename ?? '') || 'attachment', type, content: bytes }
}

function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 2_000)
    .toWellFormed()
}
