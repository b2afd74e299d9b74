import { Readable } from 'node:stream'
import type MimeNode from 'nodemailer/lib/mime-node/index.js'
import type { Mail, MailAddress } from '../domain/mail/mail.ts'

/** The message as MIME (RFC 5322), and the addresses that it goes to. */
export type ComposedMail = { envelope: { from: string; to: string[] }; open(): MailStream }

/** The bytes of a message, made while they are read. */
export type MailStream = { readable: Readable; close(): void }

/** `date`: epoch milliseconds. The header `Bcc` is left out. */
export async function composeMail(mail: Mail, date: number): Promise<ComposedMail> {
  const { from, to, cc, bcc } = mail
  // Loaded on first use, because few workflows send mail.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer/index.js')
  const recipients = [...to, ...cc, ...bcc].map(({ address }) => address)
  return {
    envelope: { from: from.address, to: [...new Set(recipients)] },
    open: () => streamOf(new MailComposer({ ...optionsOf(mail), date: new Date(date) }).compile()),
  }
}

function optionsOf({ from, to, cc, replyTo, subject, text, html, attachments, messageId }: Mail) {
  const list = (addresses: readonly MailAddress[]) => addresses.map(({ name, address }) => ({ name, address }))
  return {
    from: { ...from },
    ...(to.length > 0 ? { to: list(to) } : {}),
    ...(cc.length > 0 ? { cc: list(cc) } : {}),
    ...(replyTo.length > 0 ? { replyTo: list(replyTo) } : {}),
    ...{ subject, messageId },
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    attachments: attachments.map(({ name, type, content }) => ({
      ...{ filename: name, contentType: type, contentDisposition: 'attachment' as const },
      content: Readable.from(piecesOf(content)),
    })),
    // A template must not make the library read files or URLs of its own choice.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  }
}

async function* piecesOf(content: Blob): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.size; at += pieceBytes) {
    yield new Uint8Array(await content.slice(at, at + pieceBytes).arrayBuffer())
  }
}

/** Divisible by three, as base64 is written in groups of three bytes. */
const pieceBytes = 65_536 * 3

function streamOf(node: MimeNode): MailStream {
  const readable = node.createReadStream()
  return { readable, close: () => readable.destroy() }
}
