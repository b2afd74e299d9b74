import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import type { KeyRow } from '../store/store.ts'

/** A new key: `text` is shown once, the rest is kept. */
export type GeneratedKey = { text: string; hash: Uint8Array; lastFour: string }

const prefix = 'mrk_'
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checkLength = 6
const keyLength = prefix.length + secretLength + checkLength

/** `mrk_`, 30 base-62 characters of randomness (178 bits), and 6 that check them. */
export function generateKey(
  random: (bytes: Uint8Array) => Uint8Array = (bytes) => crypto.getRandomValues(bytes),
): GeneratedKey {
  let secret = ''
  while (secret.length < secretLength) {
    for (const byte of random(new Uint8Array(64))) {
      // 248 is the last multiple of 62: bytes above it would make some digits likelier.
      if (byte < 248 && secret.length < secretLength) secret += digits[byte % 62]
    }
  }
  const text = prefix + secret + checkOf(prefix + secret)
  return { text, hash: hashKey(text), lastFour: text.slice(-4) }
}

/** Whether text can be a key at all: typing errors and guesses are told apart from keys without a query. */
export function isWellFormedKey(text: string): boolean {
  if (text.length !== keyLength || !/^mrk_[0-9A-Za-z]+$/.test(text)) return false
  return text.slice(-checkLength) === checkOf(text.slice(0, -checkLength))
}

export function hashKey(text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(text).digest()
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
  /** Keys, and texts that are none, remembered at most. */
  entriesMax?: number
}

/** A key revoked, made or changed by another process is noticed this much later at most: 5 s are promised. */
const trustedMs = 4_000

type Entry = { hash: Uint8Array; row: KeyRow | undefined; checkedAt: number }

/**
 * Keys by their text. A known key is answered at once; after a few seconds it is looked up again. Texts that are no
 * keys are remembered as well, so that guessing costs no disk. Concurrent look-ups of one key share one query.
 *
 * The table is keyed by a fast keyed hash of the text, whose seed nobody outside knows, so how long a look-up takes
 * says nothing about keys that exist; a hit is then compared in constant time by SHA-256.
 */
export class KeyCache {
  readonly #findKey: KeyCacheOptions['findKey']
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n
  /** In the order of their look-up, the oldest first. */
  readonly #entries = new Map<bigint, Entry>()
  readonly #asked = new Map<bigint, Promise<KeyRow | undefined>>()

  constructor({ findKey, clock, entriesMax = 10_000 }: KeyCacheOptions) {
    this.#findKey = findKey
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  /** `malformed`: cannot be a key. Undefined: unknown, revoked or expired. */
  readonly lookUp = (text: string): KeyRow | 'malformed' | undefined | Promise<KeyRow | undefined> => {
    if (text.length !== keyLength) return 'malformed'
    const place = Bun.hash.wyhash(text, this.#seed)
    const entry = this.#entries.get(place)
    if (
      entry !== undefined &&
      this.#clock.now() - entry.checkedAt < trustedMs &&
      timingSafeEqual(entry.hash, hashKey(text))
    ) {
      return this.#valid(entry.row)
    }
    if (!isWellFormedKey(text)) return 'malformed'
    const asked = this.#asked.get(place)
    if (asked) return asked
    const asking = this.#ask(place, hashKey(text)).finally(() => this.#asked.delete(place))
    this.#asked.set(place, asking)
    return asking
  }

  async #ask(place: bigint, hash: Uint8Array): Promise<KeyRow | undefined> {
    const row = await this.#findKey(hash)
    this.#entries.delete(place)
    this.#entries.set(place, { hash, row, checkedAt: this.#clock.now() })
    if (this.#entries.size > this.#entriesMax) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    return this.#valid(row)
  }

  #valid(row: KeyRow | undefined): KeyRow | undefined {
    if (!row || row.revokedAt !== null) return undefined
    return row.expiresAt !== null && row.expiresAt <= this.#clock.now() ? undefined : row
  }
}
