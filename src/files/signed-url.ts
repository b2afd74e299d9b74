import { timingSafeEqual } from 'node:crypto'

/**
 * Signs URLs of files that the service serves itself. The signature is an HMAC over the key and the expiry, so a URL
 * opens exactly one file until exactly one time.
 */
export class UrlSigner {
  readonly #keys: (make: boolean) => readonly Uint8Array[]
  readonly #base: () => string

  /** The first key signs and is created if there is none; all keys verify. `base`: the public URL of the service. */
  constructor(keys: (make: boolean) => readonly Uint8Array[], base: () => string) {
    this.#keys = keys
    this.#base = base
  }

  /** `expiresAt` is in epoch milliseconds and is rounded to whole seconds. */
  sign(key: string, expiresAt: number): string {
    const expires = String(Math.floor(expiresAt / 1000))
    const [signing] = this.#keys(true)
    if (!signing) throw new Error('No key exists for signing file URLs')
    const signature = signatureOf(signing, key, expires).toString('base64url')
    return `${this.#base()}${filesPath}${key}?expires=${expires}&signature=${signature}`
  }

  /** Verifies the parts of a file URL. */
  verify({ key, expires, signature }: SignedParts, now: number): 'valid' | 'expired' | 'forged' {
    if (!/^\d{1,12}$/.test(expires)) return 'forged'
    const given = Buffer.from(signature, 'base64url')
    // The spelling must match too: several base64 texts decode to the same bytes.
    if (given.toString('base64url') !== signature) return 'forged'
    const isSigned = this.#keys(false).some((each) => isEqual(signatureOf(each, key, expires), given))
    if (!isSigned) return 'forged'
    return Number(expires) * 1000 > now ? 'valid' : 'expired'
  }
}

export type SignedParts = { key: string; expires: string; signature: string }

export const filesPath = '/files/'

function signatureOf(secret: Uint8Array, key: string, expires: string): Buffer {
  return new Bun.CryptoHasher('sha256', secret).update(`${expires}\n${key}`).digest()
}

/** In constant time. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
