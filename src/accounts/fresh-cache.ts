import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'

export type FreshCacheOptions<Value> = {
  /** Undefined: there is none. `before`: what is in memory of it, however old. */
  ask(id: string, before: Value | undefined): Promise<Value | undefined>
  clock: Clock
  /** Values, and ids of none, remembered at most, each. */
  entriesMax?: number | undefined
}

/**
 * What other processes may change, in memory: a change holds within 5 s. A value is trusted for 3 s; for another 1.5 s it
 * is still served while the store is asked again in the background, so what is in use never waits; then callers wait for
 * the answer. That there is none is remembered for 1 s, so that asking for it again and again costs no disk, and what is
 * made a moment later is soon found. Concurrent look-ups of one id share one query.
 */
export class FreshCache<Value> {
  readonly #ask: FreshCacheOptions<Value>['ask']
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #found = new Map<string, { value: Value; askedAt: number }>()
  /** When each id of none was looked up. */
  readonly #absent = new Map<string, number>()
  readonly #asking = new Map<string, Promise<Value | undefined>>()

  constructor({ ask, clock, entriesMax = 10_000 }: FreshCacheOptions<Value>) {
    this.#ask = ask
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  /** The value when it is in memory and may be served; undefined else. */
  known(id: string): Value | undefined {
    const entry = this.#found.get(id)
    if (entry === undefined) return undefined
    const ageMs = this.#clock.monotonic() - entry.askedAt
    if (ageMs >= servedMs) return undefined
    // A failure is for the caller who comes when the entry is too old to be served.
    if (ageMs >= trustedMs) this.#query(id).catch(() => {})
    return entry.value
  }

  /** The value, at once when it is known; undefined when there is none. Rejects with what `ask` rejects with, or OVERLOADED. */
  get(id: string): Value | undefined | Promise<Value | undefined> {
    const known = this.known(id)
    if (known !== undefined) return known
    const absentAt = this.#absent.get(id)
    if (absentAt !== undefined && this.#clock.monotonic() - absentAt < absentMs) return undefined
    return this.#query(id)
  }

  /** After a change: the next look-up asks the store. What is being read now may be from before it, and is not kept. */
  distrust(id: string): void {
    const entry = this.#found.get(id)
    if (entry) entry.askedAt = Number.NEGATIVE_INFINITY
    this.#absent.delete(id)
    this.#asking.delete(id)
  }

  /** All that is in memory, however old. */
  *values(): Iterable<Value> {
    for (const { value } of this.#found.values()) yield value
  }

  /** The same with their ids. */
  *entries(): Iterable<[id: string, value: Value]> {
    for (const [id, { value }] of this.#found) yield [id, value]
  }

  #query(id: string): Promise<Value | undefined> {
    const under = this.#asking.get(id)
    if (under) return under
    if (this.#asking.size >= askingMax) {
      return Promise.reject(new AppError('OVERLOADED', 'Too many look-ups wait for the database', { retryAfterS: 1 }))
    }
    const isWanted = () => this.#asking.get(id) === asking
    const asking: Promise<Value | undefined> = this.#read(id, isWanted).finally(() => {
      if (isWanted()) this.#asking.delete(id)
    })
    this.#asking.set(id, asking)
    return asking
  }

  async #read(id: string, isWanted: () => boolean): Promise<Value | undefined> {
    // Taken before the query: what it answers may be as old as this.
    const askedAt = this.#clock.monotonic()
    const value = await this.#ask(id, this.#found.get(id)?.value)
    if (!isWanted()) return value
    this.#found.delete(id)
    this.#absent.delete(id)
    if (value === undefined) put(this.#absent, id, askedAt, this.#entriesMax)
    else put(this.#found, id, { value, askedAt }, this.#entriesMax)
    return value
  }
}

const trustedMs = 3_000
const servedMs = 4_500
const absentMs = 1_000
const askingMax = 1_000

/** What is in use is put again every few seconds, so the first of the map is something that is not. */
function put<Value>(map: Map<string, Value>, id: string, value: Value, sizeMax: number): void {
  map.set(id, value)
  forgetOldest(map, sizeMax)
}
