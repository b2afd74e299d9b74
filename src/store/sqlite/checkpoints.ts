import { lengthOfWrite, type Write } from '../../domain/write.ts'
import type { Thread } from './thread.ts'

export type CheckpointsOptions = {
  /** The thread that commits wait for. */
  writer: Pick<Thread, 'pack' | 'checkpoint'>
  /** One that no commit waits for; started when it is needed. */
  helper: () => Promise<Pick<Thread, 'checkpoint' | 'close'>>
  /** The disk failed under the helper. */
  onFailure(): void
}

/**
 * Packs what was written and moves the WAL into the database, whenever enough has been written. SQLite would do it inside
 * the commit that passes a mark, in front of the callers that wait for this commit, and would swallow its errors.
 *
 * A WAL starts again from its beginning only when all of it has been moved, which nobody can do beside a writer that goes
 * on. So the writer's thread does it, between two groups: some 2 ms a megabyte. When there is more to move, because a
 * reader (a backup) needed the WAL for long, a thread of its own moves most of it beforehand, and the writer the rest.
 *
 * It counts in the service's thread, because commits happen in two.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  /** Written since the last time. */
  #walBytes = 0
  /** What was left the last time, for a reader. */
  #leftBytes = 0
  #work: Promise<void> | undefined
  #stopped = false

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Counts a commit; without a group, a small one. */
  count(writes: readonly Write[] = []): void {
    this.countBytes(walBytesOf(writes))
  }

  countBytes(walBytes: number): void {
    this.#walBytes += walBytes
    const due = this.#leftBytes > writerBytesMax ? againBytes : walBytesMax
    if (this.#walBytes < due || this.#work || this.#stopped) return
    this.#work = this.#take().finally(() => {
      this.#work = undefined
    })
  }

  /** Resolves when what is under way has ended; nothing else begins. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  /** Never rejects: what failed shows in the writes that follow, and is tried again. */
  async #take(): Promise<void> {
    const { writer } = this.#options
    this.#leftBytes += this.#walBytes
    this.#walBytes = 0
    try {
      await writer.pack()
      if (this.#leftBytes > writerBytesMax) await this.#moveMost()
      if (this.#leftBytes <= writerBytesMax) this.#leftBytes = (await writer.checkpoint()) ?? this.#leftBytes
    } catch {
      // The bytes stay counted.
    }
  }

  async #moveMost(): Promise<void> {
    const helper = await this.#options.helper()
    try {
      for (let round = 0; round < roundsMax && this.#leftBytes > writerBytesMax; round += 1) {
        const needed = await helper.checkpoint()
        if (needed === undefined) return
        // What was written in the meantime is left too.
        this.#leftBytes = needed + this.#walBytes
        this.#walBytes = 0
        if (needed > 0) return
      }
    } catch (error) {
      this.#options.onFailure()
      throw error
    } finally {
      await helper.close()
    }
  }
}

/** What a commit of this group adds to the WAL, a generous estimate. */
export function walBytesOf(writes: readonly Write[]): number {
  let bytes = commitBytes
  for (const write of writes) bytes += rowBytes + lengthOfWrite(write)
  return bytes
}

/**
 * A WAL that is used again from its start is also faster to flush than one that grows (0.12 against 0.20 ms measured), so
 * it is kept short; between 2 and 64 MB the requests/s did not differ.
 */
const walBytesMax = 8_388_608
/** What the writer's thread moves at once: some 35 ms. */
const writerBytesMax = 2 * walBytesMax
/** Until the next look when a reader needs more than that. */
const againBytes = 8 * walBytesMax
const roundsMax = 5
/** The handful of pages that a commit touches, whatever it holds. */
const commitBytes = 16_384
const rowBytes = 200
