import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { KeyRow, Store } from '../store/store.ts'
import { hashKey, isKeyShaped } from './keys.ts'

export type KeyCacheOptions = {
  store: Pick<Store, 'findKey'>
  clock: Pick<Clock, 'now' | 'monotonic'>
  /** Keys that are remembered, and as many texts that are no key. */
  entriesMax?: number
}

/**
 * Keys as callers send them, looked up. A key that was found is good for 3 s; for another 1.5 s it is served while the
 * store is asked again in the background; then callers wait for the answer. So a revoked key stops within 5 s, whoever
 * revoked it, and a busy key never waits. A text that is no key is remembered for 1 s, so that trying it again and again
 * costs no query; texts with a wrong check sum never cost one.
 *
 * Constant time: entries are found by the SHA-256 of what was sent, so what a comparison's time could give away is about
 * digests that the caller cannot steer, and nothing of a key; the key itself is kept nowhere. The digest costs 0.12 µs.
 */
export class KeyCache {
  readonly #store: Pick<Store, 'findKey'>
  readonly #clock: KeyCacheOptions['clock']
  readonly #entriesMax: number
  readonly #found = new Map<string, Entry>()
  /** When each text that is no key was looked up. */
  readonly #absent = new Map<string, number>()
  readonly #pending = new Map<string, Promise<KeyRow | undefined>>()

  constructor({ store, clock, entriesMax = 10_000 }: KeyCacheOptions) {
    this.#store = store
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  /** Undefined for anything but a key that is in force: malformed, unknown, revoked, expired look the same. */
  find(text: string): KeyRow | undefined | Promise<KeyRow | undefined> {
    if (!isKeyShaped(text)) return undefined
    const digest = Bun.SHA256.hash(text, 'base64')
    const entry = this.#found.get(digest)
    const now = this.#clock.monotonic()
    if (entry) {
      const ageMs = now - entry.askedAt
      if (ageMs < freshMs) return this.#inForce(entry.key)
      if (ageMs < servedMs) {
        // Its failure is heard by the caller that comes after `servedMs`.
        this.#ask(text, digest).catch(() => {})
        return this.#inForce(entry.key)
      }
    }
    const absentAt = this.#absent.get(digest)
    if (absentAt !== undefined && now - absentAt < absentMs) return undefined
    return this.#ask(text, digest).then((key) => this.#inForce(key))
  }

  /** For a key that was revoked in this process: it stops at once. */
  forget(keyId: string): void {
    for (const [digest, { key }] of this.#found) if (key.id === keyId) this.#found.delete(digest)
  }

  #ask(text: string, digest: string): Promise<KeyRow | undefined> {
    const pending = this.#pending.get(digest)
    if (pending) return pending
    if (this.#pending.size >= pendingMax) {
      return Promise.reject(new AppError('OVERLOADED', 'Too many keys are being looked up', { retryAfterS: 1 }))
    }
    const asked = this.#lookUp(text, digest).finally(() => this.#pending.delete(digest))
    this.#pending.set(digest, asked)
    return asked
  }

  async #lookUp(text: string, digest: string): Promise<KeyRow | undefined> {
    // Before the query: the answer may be as old as this.
    const askedAt = this.#clock.monotonic()
    const key = await this.#store.findKey(hashKey(text))
    this.#found.delete(digest)
    this.#absent.delete(digest)
    if (key && key.revokedAt === null) put(this.#found, digest, { key, askedAt }, this.#entriesMax)
    else put(this.#absent, digest, askedAt, this.#entriesMax)
    return key
  }

  #inForce(key: KeyRow | undefined): KeyRow | undefined {
    if (!key || key.revokedAt !== null) return undefined
    return key.expiresAt !== null && key.expiresAt <= this.#clock.now() ? undefined : key
  }
}

type Entry = { key: KeyRow; askedAt: number }

const freshMs = 3_000
const servedMs = 4_500
const absentMs = 1_000
const pendingMax = 1_000

/** Keys in use are put again every few seconds, so the first of the map is one that is not. */
function put<Value>(map: Map<string, Value>, key: string, value: Value, sizeMax: number): void {
  map.set(key, value)
  if (map.size <= sizeMax) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
