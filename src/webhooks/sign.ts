/** The only event there is. */
export const eventType = 'workflow.execution.completed'

export type SignedRequest = {
  deliveryId: string
  /** The JSON text, byte for byte as it is sent. */
  body: string
  /** When it is sent, epoch milliseconds: fresh for each attempt. */
  at: number
  /** Those that are good now, in the order of their making; none: it is not signed. */
  secrets: readonly string[]
}

/** The headers of an attempt. */
export function webhookHeaders(request: SignedRequest): [name: string, value: string][] {
  const { deliveryId, at, secrets } = request
  return [
    ['Content-Type', 'application/json'],
    ['svc-event', eventType],
    ['svc-timestamp', String(at)],
    ['svc-delivery-id', deliveryId],
    ['Idempotency-Key', deliveryId],
    ...(secrets.length === 0 ? [] : [['svc-signature', signatureOf(request)] as [string, string]]),
  ]
}

/**
 * `t=<milliseconds>,v1=<hex>`: HMAC-SHA256, keyed with the secret, over `<milliseconds>.<body>`. One `v1` for each secret.
 * No space after the comma: receivers that split at it would take one for a part of the name.
 */
export function signatureOf({ at, body, secrets }: Pick<SignedRequest, 'at' | 'body' | 'secrets'>): string {
  const digests = secrets.map((secret) => `v1=${digestOf(secret, at, body)}`)
  return [`t=${at}`, ...digests].join(',')
}

function digestOf(secret: string, at: number, body: string): string {
  return new Bun.CryptoHasher('sha256', secret).update(`${at}.`).update(body).digest('hex')
}
