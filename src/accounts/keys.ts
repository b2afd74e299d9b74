import type { Clock } from '../domain/clock.ts'
import type { KeyRow } from '../store/store.ts'
import { FreshCache } from './fresh-cache.ts'

/** A new key: `text` is shown once, the rest is kept. */
export type GeneratedKey = { text: string; hash: Uint8Array; lastFour: string }

/** `random` fills the array it is given. */
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

/** `mrk_`, 30 base-62 characters of randomness (178 bits), and 6 that check them. */
export function makeKey(random: Random): string {
  const bytes = new Uint8Array(64)
  let secret = ''
  while (secret.length < secretLength) {
    random(bytes)
    for (const byte of bytes) {
      // 248 is the last multiple of 62: bytes above it would make some digits likelier.
      if (byte < 248 && secret.length < secretLength) secret += digits[byte % 62]
    }
  }
  return prefix + secret + checkOf(prefix + secret)
}

/** Whether text can be a key at all: typing errors and guesses are told apart from keys without a query. */
export function isKeyShaped(text: string): boolean {
  if (text.length !== keyLength || !/^mrk_[0-9A-Za-z]+$/.test(text)) return false
  return text.slice(-checkLength) === checkOf(text.slice(0, -checkLength))
}

/** What is kept of a key. It holds 178 random bits, so one round without salt is enough. */
export function hashKey(text: string): Uint8Array {
  return Bun.SHA256.hash(text) as Uint8Array
}

export function lastFourOf(text: string): string {
  return text.slice(-4)
}

/** CRC-32 in base 62: the same for everyone, so a scanner of leaked secrets can recognise a key. */
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
  /** Told of each key that was accepted. */
  used?(keyId: string): void
  /** Keys, and texts that are none, remembered at most, each. */
  entriesMax?: number
}

/**
 * Keys by their text, as fresh as `FreshCache` keeps them: one that was revoked by whatever process stops within 5 s, and
 * so does a role that was taken away.
 *
 * Entries are found by the SHA-256 of what was sent, so whatever a comparison's time could give away is about digests,
 * which the caller cannot steer: nothing of a key can be learnt from it, and no key lies in memory. 0.12 µs a digest.
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

  /** `malformed`: cannot be a key. Undefined: unknown, revoked or expired. */
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
