import type { LogRow } from '../../domain/log.ts'

/**
 * When to move the WAL into the database. SQLite would do it inside the commit that passes a mark, in front of the callers
 * that wait for this commit, and would swallow its errors; decided here, it comes after the answer and is heard.
 */
export class Checkpoints {
  #walBytes = 0

  /** Counts a commit; without log rows, a small one. */
  count(rows: readonly LogRow[]): void {
    this.countBytes(walBytesOf(rows))
  }

  countBytes(walBytes: number): void {
    this.#walBytes += walBytes
  }

  isDue(): boolean {
    return this.#walBytes >= walBytesMax
  }

  reset(): void {
    this.#walBytes = 0
  }
}

/** What a commit of these rows adds to the WAL, a generous estimate. */
export function walBytesOf(rows: readonly LogRow[]): number {
  let bytes = commitBytes
  for (const row of rows) bytes += rowBytes + row.finalOutput.length + row.traceSpans.length
  return bytes
}

/**
 * A WAL that is used again from its start is also faster to flush than one that grows (0.12 against 0.20 ms measured), so
 * it is kept short; between 2 and 64 MB the requests/s did not differ.
 */
const walBytesMax = 8_388_608
/** The handful of pages that a commit touches, whatever it holds. */
const commitBytes = 16_384
const rowBytes = 200
