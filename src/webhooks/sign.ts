import type { OutboundRequest } from '../domain/outbound-request.ts'
import { type DeliveryEvent, eventTypeOf } from '../domain/webhook/run-event.ts'

export type SignedRequest = {
  deliveryId: string
  event: DeliveryEvent
  /** The JSON text exactly as it is sent. */
  body: string
  /** The time of this attempt, epoch milliseconds. */
  at: number
  /** The valid secrets, oldest first. Without secrets, the request is not signed. */
  secrets: readonly string[]
  /** The place of the run in a distributed trace. */
  traceHeaders?: OutboundRequest['headers'] | undefined
}

/** The headers of an attempt. */
export function webhookHeaders(request: SignedRequest): OutboundRequest['headers'] {
  const { deliveryId, event, at, secrets, traceHeaders = [] } = request
  return [
    ['Content-Type', 'application/json'],
    ['svc-event', eventTypeOf(event)],
    ['svc-timestamp', String(at)],
    ['svc-delivery-id', deliveryId],
    ['Idempotency-Key', deliveryId],
    ...traceHeaders,
    ...(secrets.length === 0 ? [] : [['svc-signature', signatureOf(request)] as [string, string]]),
  ]
}

/**
 * `t=<milliseconds>,v1=<hex>`: HMAC-SHA256 of `<milliseconds>.<body>` with the secret as key, one `v1` for each secret.
 * There is no space after the comma, because receivers that split the header there would take it as part of the name.
 */
export function signatureOf({ at, body, secrets }: Pick<SignedRequest, 'at' | 'body' | 'secrets'>): string {
  const digests = secrets.map((secret) => `v1=${digestOf(secret, at, body)}`)
  return [`t=${at}`, ...digests].join(',')
}

function digestOf(secret: string, at: number, body: string): string {
  return new Bun.CryptoHasher('sha256', secret).update(`${at}.`).update(body).digest('hex')
}
