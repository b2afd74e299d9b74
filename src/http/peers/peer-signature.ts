import type { Clock } from '../../domain/clock.ts'

/** The header that one process adds to a request to another one. */
export const peerHeader = 'millrace-peer'

export type PeerSignaturesOptions = {
  /** Keys that only processes of this installation have. The first signs, all are accepted. */
  keys(): readonly Uint8Array[]
  clock: Pick<Clock, 'now'>
}

/** The parts of a request that a signature covers. `path` includes the query. `address`: of the caller. */
export type SignedRequest = { method: string; path: string; address: string }

/**
 * Signs requests of this process to other ones, and recognises theirs. A signature is valid for one request and a short
 * time: a reader of the network can neither send it again nor use it for another address. It does not cover the body:
 * an attacker who can change that has the credentials of the caller, too.
 */
export class PeerSignatures {
  readonly #options: PeerSignaturesOptions
  /** Nonces of valid signatures, oldest first, with the time after which they would be too old anyway. */
  readonly #used = new Map<string, number>()

  constructor(options: PeerSignaturesOptions) {
    this.#options = options
  }

  /** The value of the header. */
  sign(request: SignedRequest): string {
    const [key] = this.#options.keys()
    if (!key) throw new Error('There is no key to sign requests to other processes with')
    const head = [this.#options.clock.now(), crypto.randomUUID(), encoded(request.address)].join('.')
    return `${head}.${signatureOf(head, request, key)}`
  }

  /** The address of the caller; undefined when no process of this installation signed this request just now. */
  verify(header: string, { method, path }: Omit<SignedRequest, 'address'>): { address: string } | undefined {
    const [, head, time, nonce, written, signature] = form.exec(header) ?? []
    if (head === undefined || nonce === undefined || written === undefined || signature === undefined) return undefined
    const now = this.#options.clock.now()
    if (Math.abs(now - Number(time)) > validMs || this.#used.has(nonce)) return undefined
    const address = Buffer.from(written, 'base64url').toString()
    const isKnown = (key: Uint8Array) => isSame(signature, signatureOf(head, { method, path, address }, key))
    if (!this.#options.keys().some(isKnown)) return undefined
    this.#remember(nonce, now)
    return { address }
  }

  #remember(nonce: string, now: number): void {
    for (const [old, until] of this.#used) {
      if (until > now) break
      this.#used.delete(old)
    }
    // Twice as long, because the sender's clock may be ahead.
    this.#used.set(nonce, now + 2 * validMs)
  }
}

const form = /^((\d{1,16})\.([\w-]{36})\.([\w-]*))\.([0-9a-f]{64})$/
/** How old a signature may be, and how far the clocks of two processes may differ. */
const validMs = 60_000

function signatureOf(head: string, { method, path, address }: SignedRequest, key: Uint8Array): string {
  const text = JSON.stringify([head, method, path, address])
  return new Bun.CryptoHasher('sha256', key).update(text).digest('hex')
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** Loaded on first use, because few requests need it. */
function isSame(given: string, expected: string): boolean {
  const { timingSafeEqual } = process.getBuiltinModule('node:crypto')
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
