import { timingSafeEqual } from 'node:crypto'
import type { SignatureScheme } from '../domain/webhook/webhook-trigger.ts'

/** A signed request. `body`: the bytes as received. */
export type SignedRequest = { headers: Headers; body: Uint8Array }

/**
 * Why a signature is invalid, as text for the sender; undefined when it is valid. Compares in constant time. If the
 * time is signed too, a request more than five minutes away from `now` (epoch milliseconds) is rejected.
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
  // Reject an empty key, with which everybody could sign: a variable may be empty.
  const expected = key.length > 0 && new Bun.CryptoHasher('sha256', key).update(prefix).update(request.body).digest()
  const matches = expected && signatures.some((text) => isSame(text, expected.toString(encoding)))
  if (!matches) return "The signature does not match this body and the webhook trigger's secret."
  if (timestampS === undefined || Math.abs(now / 1000 - timestampS) <= toleranceS) return undefined
  return `The timestamp of the signature is more than ${toleranceS / 60} minutes away from the current time.`
}

/** The signature headers: the text signed in front of the body, and the signatures, of which one must match. */
type Reading = {
  timestampS: number | undefined
  prefix: string
  signatures: readonly string[]
  encoding: 'hex' | 'base64'
}

/** A string instead of a reading names the missing headers. */
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

  // Svix, which defined the scheme, sends the same under its own header names.
  standard(headers) {
    const brand = standardBrand(headers)
    const id = standardIdOf(headers)
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

/** The id of an event, which the `standard` scheme signs. It is the same whenever the event is sent again. */
export function standardIdOf(headers: Headers): string {
  return headers.get(`${standardBrand(headers)}-id`) ?? ''
}

function standardBrand(headers: Headers): 'webhook' | 'svix' {
  return headers.has('webhook-id') ? 'webhook' : 'svix'
}

const toleranceS = 300
/** A sender that rotates its secret sends two. */
const signaturesMax = 10

function missing(names: string): string {
  return `The request has no readable signature (${names}).`
}

function secondsOf(text: string): number | undefined {
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/** `whsec_` followed by the key in base64. */
function standardKey(secret: string): Uint8Array {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
}

/** Compared as text: several base64 texts decode to the same bytes, but only one was sent. */
function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
