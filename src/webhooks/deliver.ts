import type { Mailer } from '../domain/mail/mailer.ts'
import type { OutboundPost, OutboundPosted, OutboundRequest } from '../domain/outbound-request.ts'
import { retryAfterMs } from '../domain/run/backoff.ts'
import {
  type AttemptFailure,
  type AttemptOutcome,
  type DeliveryAttempt,
  type DueDelivery,
  responseCharsMax,
} from '../domain/webhook/delivery.ts'
import type { DeliveryEvent } from '../domain/webhook/run-event.ts'
import { retryDelayMs } from './backoff.ts'
import { type MailLimit, type Posted, sendMail } from './mail.ts'
import type { Receiver } from './receivers.ts'
import { webhookHeaders } from './sign.ts'

export type DeliverOptions = {
  post(request: OutboundPost): Promise<OutboundPosted>
  /** For alerts by e-mail; undefined when the service cannot send any. */
  mailer?: Pick<Mailer, 'send'> | undefined
  /** Counts an alert by e-mail against the limit of its workspace. */
  takeMail?: MailLimit | undefined
  clock: { now(): number; monotonic(): number }
  /** 0 ≤ n < 1. */
  random(): number
  attemptsMax: number
  timeoutMs: number
}

/** The content of a delivery and its receiver. */
export type Message = {
  delivery: Pick<DueDelivery, 'attempts' | 'attemptsBefore'>
  deliveryId: string
  event: DeliveryEvent
  body: string
  receiver: Receiver
  signal: AbortSignal
  traceHeaders?: OutboundRequest['headers'] | undefined
}

/** `interrupted`: the service itself ended the attempt, so it does not count. */
export type Delivered = { attempt: DeliveryAttempt; outcome: AttemptOutcome } | 'interrupted'

/** Makes one attempt with a fresh signature. Never throws. */
export async function deliver(message: Message, options: DeliverOptions): Promise<Delivered> {
  const { receiver, deliveryId, event, body, signal, traceHeaders } = message
  const { clock, post, timeoutMs } = options
  const startedAt = clock.now()
  const startedMonotonic = clock.monotonic()
  const headers = webhookHeaders({ deliveryId, event, body, at: startedAt, secrets: receiver.secrets, traceHeaders })
  const { mail } = receiver
  const posted = mail
    ? await sendMail(options, { ...mail, body, deliveryId, signal })
    : await post({ url: receiver.url, headers, body, timeoutMs, responseBytesMax, signal })
  if (!posted.ok && posted.code === 'CANCELLED') return 'interrupted'
  const durationMs = Math.round((clock.monotonic() - startedMonotonic) * 1000) / 1000
  return judge(message, posted, { startedAt, durationMs }, options)
}

/** The outcome of a delivery that cannot be sent, because its log entry is gone or its receiver is not configured. */
export function notSendable({ attempts }: Pick<DueDelivery, 'attempts'>, failure: AttemptFailure, at: number) {
  const attempt = { number: attempts + 1, startedAt: at, durationMs: 0, status: null, failure, answer: null }
  return { attempt, outcome: { state: 'failed', dueAt: null } as AttemptOutcome }
}

type Timing = Pick<DeliveryAttempt, 'startedAt' | 'durationMs'>

function judge({ delivery, receiver }: Message, posted: Posted, timing: Timing, options: DeliverOptions) {
  const failure = failureOf(posted)
  const attempt: DeliveryAttempt = {
    number: delivery.attempts + 1,
    ...timing,
    status: posted.status ?? null,
    failure: failure && { ...failure, message: receiver.redact(failure.message) },
    answer: posted.ok && posted.responseStart.length > 0 ? textOf(posted.responseStart, receiver) : null,
  }
  if (failure === null) return { attempt, outcome: { state: 'delivered', dueAt: null } as AttemptOutcome }
  return { attempt, outcome: outcomeOf(delivery, receiver, posted, options) }
}

function outcomeOf(
  { attempts, attemptsBefore }: Message['delivery'],
  { retriesNetworkErrors }: Receiver,
  posted: Posted,
  { attemptsMax, clock, random }: DeliverOptions,
): AttemptOutcome {
  const made = attempts - attemptsBefore + 1
  const mayRecover = posted.ok
    ? posted.status === 429 || posted.status >= 500
    : retriesNetworkErrors && (posted.code === 'TIMEOUT' || posted.code === 'CONNECTION_FAILED')
  if (!mayRecover || made >= attemptsMax) return { state: 'failed', dueAt: null }
  const now = clock.now()
  const asked =
    posted.ok && (posted.status === 429 || posted.status === 503) ? retryAfterMs(posted.retryAfter, now) : undefined
  return { state: 'pending', dueAt: Math.round(now + retryDelayMs(made, random(), asked)) }
}

function failureOf(posted: Posted): AttemptFailure | null {
  if (!posted.ok) return { code: posted.code, message: posted.message }
  const { status } = posted
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) {
    return {
      code: 'REDIRECTED',
      message: `The receiver responded with ${status}. Webhook deliveries do not follow redirects`,
    }
  }
  return { code: 'HTTP_ERROR', message: `The receiver responded with ${status}` }
}

/** Redacts before it cuts the text: half a secret cannot be recognised. */
function textOf(responseStart: Uint8Array, { redact }: Receiver): string {
  const { buffer, byteOffset, byteLength } = responseStart
  return redact(Buffer.from(buffer, byteOffset, byteLength).toString())
    .slice(0, responseCharsMax)
    .toWellFormed()
}

const responseBytesMax = 2_048
