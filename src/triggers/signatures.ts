import { timingSafeEqual } from 'node:crypto'
import type { SignatureScheme } from '../domain/inbound-webhook.ts'

/** A request as it was signed. `body`: the bytes that came, before anything read them. */
export type SignedRequest = { headers: Headers; body: Uint8Array }

/**
 * What is wrong with a signature, for the sender's people; undefined when it is good. Compares in constant time; where the
 * sender signs the time as well, what is more than five minutes away from `now` (epoch milliseconds) is refused.
 */
export function signatureProblem(
  scheme: SignatureScheme,
  secret: string,
  request: SignedRequest,
  now: number,
): string | undefined {
  const reading = readers[scheme](request.headers)
  if (typeof reading === 'string') return reading
  const { timestampS, prefix, signatures, encoding } = reading
  const key = scheme === 'standard' ? standardKey(secret) : secret
  // With an empty key anybody could sign: a variable may be set to nothing.
  const expected = key.length > 0 && new Bun.CryptoHasher('sha256', key).update(prefix).update(request.body).digest()
  const matches = expected && signatures.some((text) => isSame(text, expected.toString(encoding)))
  if (!matches) return 'The signature is not that of this body with the secret that is set here.'
  if (timestampS === undefined || Math.abs(now / 1000 - timestampS) <= toleranceS) return undefined
  return `The signature is not of now: it was made more than ${toleranceS / 60} minutes before or after.`
}

/** What a request's headers say: what was signed in front of the body, and the signatures, any of which may match. */
type Reading = {
  timestampS: number | undefined
  prefix: string
  signatures: readonly string[]
  encoding: 'hex' | 'base64'
}

/** A text instead of a reading says what is missing. */
const readers: Readonly<Record<SignatureScheme, (headers: Headers) => Reading | string>> = {
  github(headers) {
    const signature = /^sha256=([0-9a-f]{64})$/.exec(headers.get('x-hub-signature-256') ?? '')?.[1]
    if (signature === undefined) return missing('X-Hub-Signature-256')
    return { timestampS: undefined, prefix: '', signatures: [signature], encoding: 'hex' }
  },

  stripe(headers) {
    const parts = (headers.get('stripe-signature') ?? '').split(',').map((part) => part.trim())
    const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
    const signatures = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? [])
    const timestampS = secondsOf(timestamp)
    if (timestampS === undefined || signatures.length === 0) return missing('Stripe-Signature')
    return { timestampS, prefix: `${timestamp}.`, signatures: signatures.slice(0, signaturesMax), encoding: 'hex' }
  },

  slack(headers) {
    const timestamp = headers.get('x-slack-request-timestamp') ?? ''
    const timestampS = secondsOf(timestamp)
    const signature = /^v0=([0-9a-f]{64})$/.exec(headers.get('x-slack-signature') ?? '')?.[1]
    if (timestampS === undefined || signature === undefined)
      return missing('X-Slack-Signature and X-Slack-Request-Timestamp')
    return { timestampS, prefix: `v0:${timestamp}:`, signatures: [signature], encoding: 'hex' }
  },

  // Svix, where the scheme comes from, sends the same under names of its own.
  standard(headers) {
    const brand = headers.has('webhook-id') ? 'webhook' : 'svix'
    const id = headers.get(`${brand}-id`) ?? ''
    const timestamp = headers.get(`${brand}-timestamp`) ?? ''
    const timestampS = secondsOf(timestamp)
    const signatures = (headers.get(`${brand}-signature`) ?? '').split(' ').flatMap((part) => {
      return /^v1,([A-Za-z0-9+/]{43}=)$/.exec(part)?.[1] ?? []
    })
    if (id === '' || timestampS === undefined || signatures.length === 0)
      return missing('webhook-id, webhook-timestamp and webhook-signature')
    const some = signatures.slice(0, signaturesMax)
    return { timestampS, prefix: `${id}.${timestamp}.`, signatures: some, encoding: 'base64' }
  },
}

const toleranceS = 300
/** A sender that changes its secret sends two. */
const signaturesMax = 10

function missing(names: string): string {
  return `The request carries no signature that can be read: ${names}.`
}

function secondsOf(text: string): number | undefined {
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/** `whsec_` and the key in base64. */
function standardKey(secret: string): Uint8Array {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
}

/** As texts: base64 has several for the same bytes, and only one of them was sent. */
function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
