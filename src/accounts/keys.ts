import type { Clock } from '../domain/clock.ts'
import type { KeyRow } from '../store/account-store.ts'
import { FreshCache } from './fresh-cache.ts'

/** A new key. `text` is shown once; the rest is stored. */
export type GeneratedKey = { text: string; hash: Uint8Array; lastFour: string }

/** `random` fills the array it receives. */
export function generateKey(random: Random = (bytes) => crypto.getRandomValues(bytes)): GeneratedKey {
  const text = makeKey(random)
  return { text, hash: hashKey(text), lastFour: lastFourOf(text) }
}

type Random = (bytes: Uint8Array<ArrayBuffer>) => unknown

const prefix = 'mrk_'
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checkLength = 6
const keyLength = prefix.length + secretLength + checkLength

/** `mrk_`, 30 random base-62 characters (178 bits), and 6 checksum characters. */
export function makeKey(random: Random): string {
  const bytes = new Uint8Array(64)
  let secret = ''
  while (secret.length < secretLength) {
    random(bytes)
    for (const byte of bytes) {
      // 248 is the largest multiple of 62 that fits in a byte. Larger bytes would make some digits more likely.
      if (byte < 248 && secret.length < secretLength) secret += digits[byte % 62]
    }
  }
  return prefix + secret + checkOf(prefix + secret)
}

/** Whether the text has the form of a key. Rejects typing errors and most guesses without a query. */
export function isKeyShaped(text: string): boolean {
  if (text.length !== keyLength || !/^mrk_[0-9A-Za-z]+$/.test(text)) return false
  return text.slice(-checkLength) === checkOf(text.slice(0, -checkLength))
}

/** The stored hash of a key. A key has 178 random bits, so one round without salt is enough. */
export function hashKey(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array
}

export function lastFourOf(text: string): string {
  return text.slice(-4)
}

/** CRC-32 in base 62. It is not secret, so that scanners for leaked secrets can recognise keys. */
function checkOf(text: string): string {
  let rest = Bun.hash.crc32(text)
  let check = ''
  for (let index = 0; index < checkLength; index += 1) {
    check = digits[rest % 62] + check
    rest = Math.floor(rest / 62)
  }
  return check
}

export type KeyCacheOptions = {
  findKey(hash: Uint8Array): Promise<KeyRow | undefined>
  clock: Clock
  /** Called for each accepted key. */
  used?(keyId: string): void
  /** Maximum number of keys, and separately of unknown texts. */
  entriesMax?: number
}

/**
 * Looks up keys by their text. A key or role revoked by another process stops working within 5 s (see `FreshCache`).
 * Entries are found by the SHA-256 digest of the received text. The duration of a comparison therefore reveals only
 * digests, which a caller cannot steer, and no key is kept in memory. A digest takes 0.12 µs.
 */
export class KeyCache {
  readonly #rows: FreshCache<KeyRow>
  readonly #clock: Clock
  readonly #used: ((keyId: string) => void) | undefined

  constructor({ findKey, clock, used, entriesMax }: KeyCacheOptions) {
    this.#rows = new FreshCache({ ask: (digest) => findKey(Uint8Array.fromBase64(digest)), clock, entriesMax })
    this.#clock = clock
    this.#used = used
  }

  /** `malformed`: the text cannot be a key. Undefined: unknown, revoked or expired. */
  readonly lookUp = (text: string): KeyRow | 'malformed' | undefined | Promise<KeyRow | undefined> => {
    if (text.length !== keyLength) return 'malformed'
    const digest = Bun.SHA256.hash(text, 'base64')
    const known = this.#rows.known(digest)
    if (known) return this.#accept(known)
    if (!isKeyShaped(text)) return 'malformed'
    const found = this.#rows.get(digest)
    return found instanceof Promise ? found.then((row) => this.#accept(row)) : this.#accept(found)
  }

  #accept(row: KeyRow | undefined): KeyRow | undefined {
    if (!row || row.revokedAt !== null) return undefined
    if (row.expiresAt !== null && row.expiresAt <= this.#clock.now()) return undefined
    this.#used?.(row.id)
    return row
  }
}
