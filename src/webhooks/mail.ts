import { MailError } from '../domain/mail/mail.ts'
import type { Mailer } from '../domain/mail/mailer.ts'
import type { OutboundPosted } from '../domain/outbound-request.ts'
import type { AttemptFailureCode } from '../domain/webhook/delivery.ts'

/** A delivery by e-mail. `body`: the JSON of the message. */
export type MailDelivery = {
  to: readonly string[]
  workspaceId: string
  body: string
  deliveryId: string
  signal: AbortSignal
}

/** Counts a message of a workspace. */
export type MailLimit = (workspaceId: string) => { allowed: boolean; limit: number }

type Sending = { mailer?: Pick<Mailer, 'send'> | undefined; takeMail?: MailLimit | undefined }

/** The outcome of an attempt by HTTP or e-mail. The status of an accepted e-mail is that of SMTP. */
export type Posted = OutboundPosted | { ok: false; code: AttemptFailureCode; message: string; status?: number }

/** Sends the text of an alert over the operator's mail server. Never throws. */
export async function sendMail(
  { mailer, takeMail }: Sending,
  { to, workspaceId, body, deliveryId, signal }: MailDelivery,
): Promise<Posted> {
  if (!mailer) {
    const message = 'The service cannot send e-mail: MILLRACE_SMTP_URL is not set'
    return { ok: false, code: 'NOT_SENDABLE', message }
  }
  const window = takeMail?.(workspaceId)
  // Repeated later, like a message that the mail server cannot take now.
  if (window?.allowed === false) return { ok: false, code: 'CONNECTION_FAILED', message: tooMany(window.limit) }
  const { text, data } = JSON.parse(body) as { text: string; data: { alert: { name: string }; executionId: unknown } }
  const run = typeof data.executionId === 'string' ? `\n\nExecution: ${data.executionId}` : ''
  try {
    const { rejected } = await mailer.send(
      { to, subject: `${data.alert.name}: ${text}`.slice(0, 200), text: `${text}${run}`, key: deliveryId },
      signal,
    )
    if (rejected.length > 0) return { ok: false, code: 'MAIL_ERROR', message: refusal(rejected, to.length) }
    return { ok: true, status: acceptedStatus, retryAfter: undefined, responseStart: new Uint8Array() }
  } catch (error) {
    if (signal.aborted) return { ok: false, code: 'CANCELLED', message: 'The service stops' }
    const message = error instanceof Error ? error.message : String(error)
    const mayRepeat = error instanceof MailError && error.mayRepeat
    return { ok: false, code: mayRepeat ? 'CONNECTION_FAILED' : 'MAIL_ERROR', message }
  }
}

const acceptedStatus = 250

function tooMany(limit: number): string {
  return `The workspace has sent ${limit} alerts by e-mail within an hour, the most that is allowed. It is tried again later.`
}

/** Not repeated: the other recipients would get another copy. */
function refusal(rejected: readonly string[], count: number): string {
  return `The mail server refused ${rejected.length} of ${count} recipients: ${rejected.join(', ')}. The others got the message.`
}
