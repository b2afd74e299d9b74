import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'

export type FreshCacheOptions<Value> = {
  /** Returns undefined when the id does not exist. `before`: the value in memory, however old. */
  ask(id: string, before: Value | undefined): Promise<Value | undefined>
  clock: Clock
  /** Maximum number of values, and separately of absent ids. */
  entriesMax?: number | undefined
}

/**
 * Caches values that other processes may change, so that a change applies within 5 s. A value is trusted for 3 s. For
 * another 1.5 s it is still served while the store is queried in the background, so values in use never wait. After
 * that, callers wait for the query. An absent id is remembered for 1 s, so repeated look-ups cost no disk access and a
 * new value is found soon. Concurrent look-ups of one id share one query.
 */
export class FreshCache<Value> {
  readonly #ask: FreshCacheOptions<Value>['ask']
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #found = new Map<string, { value: Value; askedAt: number }>()
  /** The time of the last look-up of each absent id. */
  readonly #absent = new Map<string, number>()
  readonly #asking = new Map<string, Promise<Value | undefined>>()

  constructor({ ask, clock, entriesMax = 10_000 }: FreshCacheOptions<Value>) {
    this.#ask = ask
    this.#clock = clock
    this.#entriesMax = entriesMax
  }

  /** The value if it is in memory and may be served; otherwise undefined. */
  known(id: string): Value | undefined {
    const entry = this.#found.get(id)
    if (entry === undefined) return undefined
    const ageMs = this.#clock.monotonic() - entry.askedAt
    if (ageMs >= servedMs) return undefined
    // The next caller that has to wait receives the error.
    if (ageMs >= trustedMs) this.#query(id).catch(() => {})
    return entry.value
  }

  /**
   * The value, without a promise when it is in memory; undefined when it does not exist. Rejects with the errors of
   * `ask`, or with OVERLOADED.
   */
  get(id: string): Value | undefined | Promise<Value | undefined> {
    const known = this.known(id)
    if (known !== undefined) return known
    const absentAt = this.#absent.get(id)
    if (absentAt !== undefined && this.#clock.monotonic() - absentAt < absentMs) return undefined
    return this.#query(id)
  }

  /**
   * Drops an id after a change, so that the next look-up queries the store. The result of a query in progress may be
   * outdated and is not cached.
   */
  invalidate(id: string): void {
    const entry = this.#found.get(id)
    if (entry) entry.askedAt = Number.NEGATIVE_INFINITY
    this.#absent.delete(id)
    this.#asking.delete(id)
  }

  /** All values in memory, however old. */
  *values(): Iterable<Value> {
    for (const { value } of this.#found.values()) yield value
  }

  /** All ids and values in memory. */
  *entries(): Iterable<[id: string, value: Value]> {
    for (const [id, { value }] of this.#found) yield [id, value]
  }

  #query(id: string): Promise<Value | undefined> {
    const under = this.#asking.get(id)
    if (under) return under
    if (this.#asking.size >= askingMax) {
      return Promise.reject(
        new AppError('OVERLOADED', 'Too many look-ups are waiting for the database. Try again in a moment.', {
          retryAfterS: 1,
        }),
      )
    }
    const isWanted = () => this.#asking.get(id) === asking
    const asking: Promise<Value | undefined> = this.#read(id, isWanted).finally(() => {
      if (isWanted()) this.#asking.delete(id)
    })
    this.#asking.set(id, asking)
    return asking
  }

  async #read(id: string, isWanted: () => boolean): Promise<Value | undefined> {
    // Taken before the query, because the result may be as old as this.
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

/** Values in use are put again every few seconds, so the first entry of the map is not in use. */
function put<Value>(map: Map<string, Value>, id: string, value: Value, sizeMax: number): void {
  map.set(id, value)
  forgetOldest(map, sizeMax)
}
