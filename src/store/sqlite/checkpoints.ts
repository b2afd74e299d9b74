import type { LogRow } from '../../domain/log.ts'
import type { Sql } from './connection.ts'

/**
 * When to move the WAL into the database. SQLite would do it inside the commit that passes a mark, in front of the callers
 * that wait for this commit, and would swallow its errors; made here, it comes after the answer and is heard.
 */
export class Checkpoints {
  #walBytes = 0

  /** Counts a commit. An estimate is enough: `make` learns the truth. */
  count(args: readonly unknown[]): void {
    this.#walBytes += commitBytes
    const [rows] = args
    if (!Array.isArray(rows)) return
    for (const row of rows as readonly LogRow[])
      this.#walBytes += rowBytes + row.traceSpans.length + row.finalOutput.length
  }

  isDue(): boolean {
    return this.#walBytes >= walBytesMax
  }

  /** Never waits for readers: what one of them still needs stays in the WAL until a later call. */
  make(sql: Sql): void {
    this.#walBytes = 0
    sql.get('PRAGMA wal_checkpoint(PASSIVE)')
  }
}

/** Larger: fewer pages written twice, but a longer pause. Measured: 16 MB take 15 to 30 ms on a fast disk. */
const walBytesMax = 16_777_216
/** The handful of pages that a commit of one row touches. */
const commitBytes = 20_480
const rowBytes = 200
