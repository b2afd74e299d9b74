import type { MailAddress } from '../../domain/mail/mail.ts'
import type { ReceivedMail } from '../../domain/mail/mailbox.ts'
import type { RunFile } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'

/** The input of the run of a message. `files`: its attachments. */
export function mailInput(mail: ReceivedMail, files: readonly RunFile[]): TriggerInput {
  const { from, to, cc, replyTo, subject, text, html, date, messageId, inReplyTo, problem } = mail
  const fields = {
    ...{ from: from?.address ?? null, fromName: from?.name || null },
    ...{ to: addressesOf(to), cc: addressesOf(cc), replyTo: addressesOf(replyTo) },
    ...{ subject, text: text || null, html: html || null },
    ...{ date: date === undefined ? null : new Date(date).toISOString(), messageId: messageId || null },
    ...{ inReplyTo: inReplyTo || null, attachments: files.map(({ file }) => file), problem },
  }
  return { input: fields, fields, ...(files.length > 0 ? { files } : {}) }
}

function addressesOf(list: readonly MailAddress[]): string[] {
  return list.map(({ address }) => address)
}
