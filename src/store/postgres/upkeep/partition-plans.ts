import { timeOfSequence } from '../../../domain/ids.ts'
import type { Write } from '../../../domain/run/write.ts'
import type { Database } from '../connection.ts'
import { analyzePartition } from './partitions.ts'

/**
 * Makes PostgreSQL plan again when the entries of a new day are no longer few. Connections keep the plans of their
 * statements. One that was made while a partition was known to be empty, because somebody ran `ANALYZE`, reads all of
 * it to find one run, and each group takes longer than the one before. Autovacuum ends that only after a minute.
 */
export class PartitionPlans {
  readonly #database: Database
  #day = 0
  /** Those of this process on that day. */
  #entries = 0

  constructor(database: Database) {
    this.#database = database
  }

  recorded(writes: readonly Write[]): void {
    for (const write of writes) if (write.kind === 'log') this.#count(timeOfSequence(write.row.sequence))
  }

  #count(at: number): void {
    const day = Math.floor(at / dayMs)
    if (day < this.#day) return
    this.#entries = day === this.#day ? this.#entries + 1 : 1
    this.#day = day
    // If it fails, there is still autovacuum.
    if (this.#entries === fewEntries) analyzePartition(this.#database, at).catch(() => undefined)
  }
}

const dayMs = 86_400_000
/** To read so many at once takes a few milliseconds. */
const fewEntries = 2_000
