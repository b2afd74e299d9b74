import type { Refusal } from '../../domain/claim.ts'
import type { Write } from '../../domain/write.ts'
import { append } from './append.ts'
import type { Connection } from './connection.ts'
import { failureOf, unavailable } from './failures.ts'
import { type OpenOptions, openConnection } from './open.ts'
import type { Thread } from './thread.ts'
import { abandon, drop } from './trial.ts'

/** What became of a group that was committed here. */
type Appended = { refusals: readonly Refusal[] | undefined }

export type InlineOptions = {
  database: OpenOptions
  /** The thread that does everything this one does not. */
  writer: Pick<Thread, 'isIdle' | 'distrust'>
  /** A clock in milliseconds. */
  monotonic: () => number
}

/**
 * Commits a few writes in the service's own thread, while nothing else is being written and the disk is fast: waking the
 * writer's thread and being woken by it takes longer than such a commit (figures in bench/store.ts). The loop stands
 * still meanwhile, so on a slow disk, and for a second after a stall, everything goes to the thread; one commit a second
 * learns whether the disk has become fast again.
 */
export class Inline {
  readonly #database: OpenOptions
  readonly #writer: InlineOptions['writer']
  readonly #monotonic: () => number
  #connection: Connection | undefined
  #pausedUntil = 0
  #typicalMs = 0.3

  constructor({ database, writer, monotonic }: InlineOptions) {
    this.#database = database
    this.#writer = writer
    this.#monotonic = monotonic
  }

  /** Undefined when these should go to the thread. Throws what `append` of the port rejects with. */
  append(writes: readonly Write[]): Appended | undefined {
    if (writes.length > writesMax) {
      // Where many runs end at once the thread is worth its while, also for the smaller groups between the larger.
      this.#pauseFor(crowdedMs)
      return undefined
    }
    if (!this.#writer.isIdle || this.#monotonic() < this.#pausedUntil) return undefined
    const startedAt = this.#monotonic()
    try {
      this.#connection ??= openConnection({ ...this.#database, busyTimeoutMs: 0 })
      const connection = this.#connection
      const refusals = connection.write(() => append(connection, writes))
      this.#learn(this.#monotonic() - startedAt)
      return refusals ? { refusals } : allTaken
    } catch (error) {
      return this.#judge(error)
    }
  }

  /** After an error of the disk that the thread met: this handle stands on the same pages, and the thread mends them. */
  distrust(): void {
    this.#pauseFor(brokenMs)
    if (this.#connection) drop(this.#connection)
    this.#connection = undefined
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  #learn(tookMs: number): void {
    // A running median: single slow commits hardly move it, a slow disk does within some twenty.
    this.#typicalMs = Math.min(this.#typicalMs * (tookMs > this.#typicalMs ? 1.05 : 0.95), typicalMsMax)
    if (this.#typicalMs >= fastMs || tookMs >= stallMs) this.#pauseFor(slowMs)
  }

  #pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#monotonic() + ms)
  }

  #judge(error: unknown): undefined {
    const failure = failureOf(error, this.#database.path)
    if (!failure) throw error
    // Another process is writing: the thread can wait for it.
    if (failure.kind === 'busy') return undefined
    if (failure.kind === 'full') throw unavailable(failure.message, error)
    this.#pauseFor(brokenMs)
    const giveUp = failure.kind === 'io' ? abandon : drop
    if (this.#connection) giveUp(this.#connection)
    this.#connection = undefined
    // The thread's handle stands on the same pages.
    this.#writer.distrust()
    throw unavailable(failure.message, error)
  }
}

const allTaken: Appended = { refusals: undefined }
const writesMax = 4
/** Where waiting for the disk begins to cost more than two threads waking each other. */
const fastMs = 0.8
const typicalMsMax = 2
const stallMs = 25
const slowMs = 1_000
const crowdedMs = 20
const brokenMs = 60_000
