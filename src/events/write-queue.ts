import type { Refusal } from '../domain/run/claim.ts'
import { lengthOfWrite, type Write } from '../domain/run/write.ts'

/** A write that waits for the disk, and the callbacks of its caller. */
export type QueuedWrite = {
  write: Write
  chars: number
  resolve(refusal: Refusal | undefined): void
  reject(error: unknown): void
}

/**
 * The writes that wait for the disk. Groups of small writes and single large ones take turns, so that a small write
 * waits for one large write and not for all of them. The writes of a job keep their order. `chars` also counts writes
 * that were taken but not yet released.
 */
export class WriteQueue {
  #small: QueuedWrite[] = []
  /** Large writes, and later writes of the same jobs. */
  #large: QueuedWrite[] = []
  #isLargeNext = false
  /** The accepted runs that wait. They have not ended. */
  readonly #jobs = new Map<string, QueuedWrite>()
  #chars = 0

  get length(): number {
    return this.#small.length + this.#large.length
  }

  get chars(): number {
    return this.#chars
  }

  add(write: Write, resolve: QueuedWrite['resolve'], reject: QueuedWrite['reject']): void {
    const chars = lengthOfWrite(write) + rowChars
    this.#chars += chars
    const entry = { write, chars, resolve, reject }
    const isBehind = this.#large.length > 0 && this.#large.some((each) => jobOf(each.write) === jobOf(write))
    if (chars > largeChars || isBehind) this.#large.push(entry)
    else this.#small.push(entry)
    if (write.kind === 'job' && !write.claim) this.#jobs.set(write.row.executionId, entry)
  }

  /** Takes out the acceptance of a run that ended before it was written: its log entry is enough. */
  removeJob(executionId: string): QueuedWrite | undefined {
    const entry = this.#jobs.get(executionId)
    if (!entry) return undefined
    this.#jobs.delete(executionId)
    const entries = this.#large.includes(entry) ? this.#large : this.#small
    entries.splice(entries.lastIndexOf(entry), 1)
    this.release(entry)
    return entry
  }

  /** Takes the entries of the next commit: at most `groupRowsMax` rows and about `groupCharsMax` characters. */
  takeGroup(): QueuedWrite[] {
    const isLarge = this.#large.length > 0 && (this.#isLargeNext || this.#small.length === 0)
    this.#isLargeNext = !isLarge
    const entries = isLarge ? this.#large : this.#small
    let chars = 0
    let count = 0
    for (const entry of entries) {
      if (count >= groupRowsMax || (count > 0 && chars + entry.chars > groupCharsMax)) break
      chars += entry.chars
      count += 1
    }
    const group = count === entries.length ? this.#takeList(isLarge) : entries.splice(0, count)
    if (this.#jobs.size > 0) {
      for (const { write } of group) if (write.kind === 'job') this.#jobs.delete(write.row.executionId)
    }
    return group
  }

  takeAll(): QueuedWrite[] {
    this.#jobs.clear()
    return [...this.#takeList(false), ...this.#takeList(true)]
  }

  /** Nothing is moved: this happens for every commit. */
  #takeList(isLarge: boolean): QueuedWrite[] {
    const list = isLarge ? this.#large : this.#small
    if (isLarge) this.#large = []
    else this.#small = []
    return list
  }

  /** Stops counting a write that has been settled. */
  release(entry: QueuedWrite): void {
    this.#chars -= entry.chars
  }
}

/** The job or run that a write belongs to. */
function jobOf(write: Write): string | undefined {
  if (write.kind === 'log' || write.kind === 'job') return write.row.executionId
  return 'executionId' in write ? write.executionId : undefined
}

/** Roughly the size of a row without its two long texts. */
const rowChars = 300
const groupRowsMax = 512
/** A group of small writes is copied to another thread in one piece: about 4 ms for each megabyte. */
const groupCharsMax = 2_097_152
/** A larger write is committed alone. */
const largeChars = 1_048_576
