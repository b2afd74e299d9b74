import { lengthOfWrite, type Write } from '../../../domain/run/write.ts'
import type { EndedAttempt } from '../../../domain/webhook/delivery.ts'

/**
 * `checkpoint` moves the WAL into the database, as far as no reader needs it. Resolves to the bytes that it had to
 * leave; undefined when nothing could be moved.
 */
type CheckpointThread = { checkpoint(): Promise<number | undefined> }

export type CheckpointsOptions = {
  /** The thread that makes commits. */
  writer: CheckpointThread & { compact(): Promise<void> }
  /** A thread that no commit waits for; started when it is first needed. */
  helper: () => Promise<CheckpointThread>
  /** Called when the disk failed under the helper. */
  onFailure(): void
}

/**
 * Compacts new log entries and moves the WAL into the database whenever enough has been written. SQLite itself would do
 * the latter inside the commit that passes a size, delay the callers of that commit, and swallow the errors.
 *
 * A helper thread moves most of the WAL while the writer continues. A WAL starts again from its beginning only when all
 * of it has been moved, which is impossible during writes. So the writer moves the small rest that was
 * written meanwhile, between two groups. If it moved everything, runs would wait 2 ms per megabyte, and for seconds
 * after a reader that needed the WAL for a long time (a backup).
 *
 * This class runs in the service's thread and calls both threads.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  /** Bytes written since the last checkpoint. */
  #walBytes = 0
  /** The bytes that the last checkpoint could not move because of a reader. */
  #leftBytes = 0
  /** Whether these were more bytes than the writer may move. */
  #isBlocked = false
  #work: Promise<void> | undefined
  #stopped = false

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Counts a commit. Without a group it counts as small. */
  count(writes: readonly Write[] = []): void {
    this.countBytes(walBytesOf(writes))
  }

  countBytes(walBytes: number): void {
    this.#walBytes += walBytes
    if (this.#walBytes < (this.#isBlocked ? blockedBytes : walBytesMax) || this.#work || this.#stopped) return
    this.#work = this.#take().finally(() => {
      this.#work = undefined
    })
  }

  /** Resolves when the work in progress has ended; no more begins. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  /** Never rejects: a failure shows in the following writes, and the work is repeated. */
  async #take(): Promise<void> {
    const { writer } = this.#options
    this.#leftBytes += this.#walBytes
    this.#walBytes = 0
    try {
      await writer.compact()
      this.#isBlocked = await this.#moveMost()
      if (this.#leftBytes <= writerBytesMax) this.#leftBytes = (await writer.checkpoint()) ?? this.#leftBytes
    } catch {
      // The bytes stay counted, so the next commit tries again.
    }
  }

  /** Repeats when much is written meanwhile. Returns whether a reader needs more than the writer may move. */
  async #moveMost(): Promise<boolean> {
    const helper = await this.#options.helper()
    try {
      for (let round = 0; round < roundsMax && this.#leftBytes > writerBytesMax; round += 1) {
        const needed = await helper.checkpoint()
        if (needed === undefined) return false
        this.#leftBytes = needed + this.#walBytes
        this.#walBytes = 0
        if (needed > writerBytesMax) return true
      }
      return false
    } catch (error) {
      this.#options.onFailure()
      throw error
    }
  }
}

/** The bytes that a commit of this group adds to the WAL, a generous estimate. */
export function walBytesOf(writes: readonly Write[]): number {
  let bytes = commitBytes
  for (const write of writes) {
    bytes += rowBytes + lengthOfWrite(write)
    if (write.kind === 'log' && write.row.webhooks) bytes += rowBytes
  }
  return bytes
}

/** The same for webhook attempts. */
export function walBytesOfAttempts(attempts: readonly EndedAttempt[]): number {
  let bytes = commitBytes
  for (const { attempt } of attempts) {
    bytes += 3 * rowBytes + (attempt.answer?.length ?? 0) + (attempt.failure?.message.length ?? 0)
  }
  return bytes
}

/**
 * Kept short: flushing a WAL that is reused from its start is faster than flushing one that grows (0.12 against 0.20
 * ms). Between 2 and 64 MB the requests/s did not differ.
 */
const walBytesMax = 8_388_608
/** The maximum that the writer moves in one step. */
const writerBytesMax = walBytesMax / 4
/** Written before the next attempt when a reader needs more than that. */
const blockedBytes = 8 * walBytesMax
const roundsMax = 5
/** The few pages that every commit touches. */
const commitBytes = 16_384
const rowBytes = 200
