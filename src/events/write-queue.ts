import type { Refusal } from '../domain/run/claim.ts'
import { lengthOfWrite, type Write } from '../domain/run/write.ts'

/** A write that waits for the disk, and the callbacks of its caller. */
export type QueuedWrite = {
  write: Write
  chars: number
  resolve(refusal: Refusal | undefined): void
  reject(error: unknown): void
}

/** The writes that wait for the disk, in order. `chars` also counts writes that were taken but not yet released. */
export class WriteQueue {
  #entries: QueuedWrite[] = []
  /** The accepted runs among the entries. They have not ended. */
  readonly #jobs = new Map<string, QueuedWrite>()
  #chars = 0

  get length(): number {
    return this.#entries.length
  }

  get chars(): number {
    return this.#chars
  }

  add(write: Write, resolve: QueuedWrite['resolve'], reject: QueuedWrite['reject']): void {
    const chars = lengthOfWrite(write) + rowChars
    this.#chars += chars
    const entry = { write, chars, resolve, reject }
    this.#entries.push(entry)
    if (write.kind === 'job' && !write.claim) this.#jobs.set(write.row.executionId, entry)
  }

  /** Takes out the acceptance of a run that ended before it was written: its log entry is enough. */
  removeJob(executionId: string): QueuedWrite | undefined {
    const entry = this.#jobs.get(executionId)
    if (!entry) return undefined
    this.#jobs.delete(executionId)
    this.#entries.splice(this.#entries.lastIndexOf(entry), 1)
    this.release(entry)
    return entry
  }

  /** Takes the entries of the next commit: at most `groupRowsMax` rows and about `groupCharsMax` characters. */
  takeGroup(): QueuedWrite[] {
    let chars = 0
    let count = 0
    for (const entry of this.#entries) {
      if (count >= groupRowsMax || (count > 0 && chars + entry.chars > groupCharsMax)) break
      chars += entry.chars
      count += 1
    }
    if (count === this.#entries.length) return this.takeAll()
    const group = this.#entries.splice(0, count)
    if (this.#jobs.size > 0) {
      for (const { write } of group) if (write.kind === 'job') this.#jobs.delete(write.row.executionId)
    }
    return group
  }

  takeAll(): QueuedWrite[] {
    const entries = this.#entries
    this.#entries = []
    this.#jobs.clear()
    return entries
  }

  /** Stops counting a write that has been settled. */
  release(entry: QueuedWrite): void {
    this.#chars -= entry.chars
  }
}

/** Roughly the size of a row without its two long texts. */
const rowChars = 300
const groupRowsMax = 512
/** A group is encrypted, and copied to another thread, in one piece: about 4 ms for each megabyte. */
const groupCharsMax = 2_097_152
