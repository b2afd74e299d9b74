import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { KeyRow } from '../store/store.ts'

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
  /** Keys, and texts that are none, remembered at most, each. */
  entriesMax?: number
}

/**
 * Keys by their text. A key that was found is trusted for 3 s; for another 1.5 s it is still served while the store is
 * asked again in the background, so a busy key never waits; then callers wait for the answer. Hence a key revoked by
 * whatever process stops within 5 s. A text that is no key is remembered for 1 s, so that repeating it costs no disk, and
 * a key made a moment later works soon. Concurrent look-ups of one key share one query.
 *
 * Entries are found by the SHA-256 of what was sent, so whatever a comparison's time could give away is about digests,
 * which the caller cannot steer: nothing of a key can be learnt from it, and no key lies in memory. 0.12 µs a digest.
 */
export class KeyCache {
  readonly #findKey: KeyCacheOptions['findKey']
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #found = new Map<string, Entry>()
  /** When each text that is no key was looked up. */
  readonly #absent = new Map<string, number>()
  readonly #asked = new Map<string, Promise<KeyRow | undefined>>()

  constructor({ findKey, clock, entriesMax = 10_000 }: KeyCacheOptions) {
    this.#findKey = findKey
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  /** `malformed`: cannot be a key. Undefined: unknown, revoked or expired. */
  readonly lookUp = (text: string): KeyRow | 'malformed' | undefined | Promise<KeyRow | undefined> => {
    if (text.length !== keyLength) return 'malformed'
    const digest = Bun.SHA256.hash(text, 'base64')
    const now = this.#clock.monotonic()
    const entry = this.#found.get(digest)
    if (entry !== undefined) {
      const ageMs = now - entry.askedAt
      if (ageMs < trustedMs) return this.#valid(entry.row)
      if (ageMs < servedMs) {
        // A failure is for the caller who comes when the entry is too old to be served.
        this.#ask(text, digest).catch(() => {})
        return this.#valid(entry.row)
      }
    }
    if (!isKeyShaped(text)) return 'malformed'
    const absentAt = this.#absent.get(digest)
    if (absentAt !== undefined && now - absentAt < absentMs) return undefined
    return this.#ask(text, digest)
  }

  #ask(text: string, digest: string): Promise<KeyRow | undefined> {
    const asked = this.#asked.get(digest)
    if (asked) return asked
    if (this.#asked.size >= askedMax) {
      return Promise.reject(new AppError('OVERLOADED', 'Too many keys are being looked up', { retryAfterS: 1 }))
    }
    const asking = this.#query(text, digest).finally(() => this.#asked.delete(digest))
    this.#asked.set(digest, asking)
    return asking
  }

  async #query(text: string, digest: string): Promise<KeyRow | undefined> {
    // Taken before the query: what it answers may be as old as this.
    const askedAt = this.#clock.monotonic()
    const row = await this.#findKey(hashKey(text))
    this.#found.delete(digest)
    this.#absent.delete(digest)
    if (row) put(this.#found, digest, { row, askedAt }, this.#entriesMax)
    else put(this.#absent, digest, askedAt, this.#entriesMax)
    return this.#valid(row)
  }

  #valid(row: KeyRow | undefined): KeyRow | undefined {
    if (!row || row.revokedAt !== null) return undefined
    return row.expiresAt !== null && row.expiresAt <= this.#clock.now() ? undefined : row
  }
}

type Entry = { row: KeyRow; askedAt: number }

const trustedMs = 3_000
const servedMs = 4_500
const absentMs = 1_000
const askedMax = 1_000

/** Keys in use are put again every few seconds, so the first of the map is one that is not. */
function put<Value>(map: Map<string, Value>, digest: string, value: Value, sizeMax: number): void {
  map.set(digest, value)
  if (map.size <= sizeMax) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
