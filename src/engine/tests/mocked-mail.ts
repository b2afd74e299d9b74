import { type Mail, type MailAddress, MailError, type SentMail } from '../../domain/mail/mail.ts'
import { isObject } from '../../domain/run/input.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'

type Response = NonNullable<NonNullable<WorkflowTest['mocks']>[number]['response']>

/** The body of an e-mail, as tests compare it. */
export function mailBody({ from, to, cc, bcc, replyTo, subject, text, html, attachments }: Mail) {
  const lists = Object.entries({ to, cc, bcc, replyTo }).filter(([, list]) => list.length > 0)
  return {
    ...{ from: written(from), ...Object.fromEntries(lists.map(([name, list]) => [name, list.map(written)])) },
    ...{ subject, ...(text === undefined ? {} : { text }), ...(html === undefined ? {} : { html }) },
    ...(attachments.length > 0 ? { attachments: attachments.map(({ name }) => name) } : {}),
  }
}

/**
 * The outcome of an e-mail from the response of a mock. All recipients are accepted, except those in `rejected` of its
 * data. Throws `MailError` for a status of an error.
 */
export function sentMail({ to, cc, bcc, messageId }: Mail, { status, data }: Response): SentMail {
  if (status >= 400) {
    const reason = typeof data === 'string' ? `: ${data}` : ''
    throw new MailError('MESSAGE_REFUSED', `The server refused the message${reason}`, { status })
  }
  const listed = isObject(data) ? data['rejected'] : undefined
  const rejected = Array.isArray(listed) ? listed.filter((each): each is string => typeof each === 'string') : []
  const recipients = [...to, ...cc, ...bcc].map(({ address }) => address)
  return { messageId, accepted: recipients.filter((address) => !rejected.includes(address)), rejected }
}

function written({ name, address }: MailAddress): string {
  return name === '' ? address : `${name} <${address}>`
}
