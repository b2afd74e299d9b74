/**
 * URLs under which the service itself serves files. The signature is an HMAC over the key and the time, so a URL opens
 * the file that it was made for, until the time that it was made for, and no other of either.
 */
export class UrlSigner {
  readonly #keys: (make: boolean) => readonly Uint8Array[]
  readonly #base: () => string

  /** The first key signs, and is made when there is none; each of them is taken. `base`: the public address of the service. */
  constructor(keys: (make: boolean) => readonly Uint8Array[], base: () => string) {
    this.#keys = keys
    this.#base = base
  }

  /** `expiresAt` in epoch milliseconds; it counts in whole seconds. */
  sign(key: string, expiresAt: number): string {
    const expires = String(Math.floor(expiresAt / 1000))
    const [signing] = this.#keys(true)
    if (!signing) throw new Error('There is no key to sign with')
    const signature = signatureOf(signing, key, expires).toString('base64url')
    return `${this.#base()}${filesPath}${key}?expires=${expires}&signature=${signature}`
  }

  /** Judges what a request for a file says. */
  verify({ key, expires, signature }: SignedParts, now: number): 'valid' | 'expired' | 'forged' {
    if (!/^\d{1,12}$/.test(expires)) return 'forged'
    const given = Buffer.from(signature, 'base64url')
    // The spelling counts as well: base64 has several of the same bytes.
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

/** Takes the same time wherever the first difference is. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (const [index, byte] of one.entries()) difference |= byte ^ other[index]!
  return difference === 0
}
