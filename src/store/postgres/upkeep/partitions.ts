import { sequenceAt } from '../../../domain/ids.ts'
import { type Database, listOf, type Sql } from '../connection.ts'
import { isLockTimeout, unavailable } from '../failures.ts'

/**
 * The part of the log that was recorded on one day (UTC): sequences from `first` to below `end`. A detached one
 * is a table of its own, which retention deletes.
 */
export type Partition = { name: string; first: number; end: number; isAttached: boolean }

/**
 * Makes the partitions of today and the next days that are missing. Entries of such a day that are in `logs_default`
 * move into its partition. Several processes may call it at once. Rejects with `STORAGE_UNAVAILABLE` when other
 * transactions hold the log for long: until the next call, new entries go to `logs_default`.
 */
export async function makePartitions(database: Database, now: number): Promise<void> {
  await makePartitionsAt(
    database,
    Array.from({ length: daysAhead + 1 }, (_, index) => now + index * dayMs),
  )
}

/** Makes the partitions of the days of some times that are missing. */
export async function makePartitionsAt(database: Database, times: readonly number[]): Promise<void> {
  const names = [...new Set(times.map(nameOf))]
  const missing = await database.all<{ name: string }>(selectMissing, listOf(names))
  for (const { name } of missing) await make(database, name)
}

/** Makes the partitions at the start and then from time to time, long before they are needed. */
export class PartitionsAhead {
  readonly #database: Database
  readonly #now: () => number
  #madeAt: number | undefined

  constructor(database: Database, now: () => number) {
    this.#database = database
    this.#now = now
  }

  async make(): Promise<void> {
    const now = this.#now()
    if (this.#madeAt !== undefined && Math.abs(now - this.#madeAt) < makeEveryMs) return
    await makePartitions(this.#database, now)
    this.#madeAt = now
  }
}

/** Makes PostgreSQL look at the size of the partition of a time. */
export async function analyzePartition(database: Database, time: number): Promise<void> {
  await database.run(`ANALYZE millrace.${nameOf(time)}`)
}

/** Oldest first. */
export async function listPartitions(sql: Sql): Promise<Partition[]> {
  const rows = await sql.all<Pick<Partition, 'name' | 'isAttached'>>(selectPartitions)
  return rows.map(({ name, isAttached }) => ({ name, isAttached, ...rangeOf(name) }))
}

/**
 * For the transaction that changes the partitions, so that only one does at a time. PostgreSQL makes every later query
 * on the log wait behind a lock that waits, so it waits for a short time only.
 */
export const lockPartitions = 0x4d696c50
export const setLockTimeout = "SET LOCAL lock_timeout = '100ms'"

async function make(database: Database, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.maintain((sql) => attach(sql, name))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (attempt === attemptsMax) {
        throw unavailable(`The partition ${name} of the log cannot be made: other transactions hold the log.`, error)
      }
      await Bun.sleep(Math.random() * pauseMsMax)
    }
  }
}

/**
 * `CREATE TABLE … PARTITION OF` would stop all queries on the log. Attaching a table that exists stops only those that
 * write, or that use `logs_default`.
 */
async function attach(sql: Sql, name: string): Promise<void> {
  const { first, end } = rangeOf(name)
  await sql.run(setLockTimeout)
  await sql.get('SELECT pg_advisory_xact_lock($1)', lockPartitions)
  // Another process may have made it meanwhile.
  if ((await sql.all(selectMissing, listOf([name]))).length === 0) return
  // Readers continue. An entry that was on its way to `logs_default` would be refused when the partition appears.
  await sql.run('LOCK TABLE ONLY millrace.logs IN SHARE ROW EXCLUSIVE MODE')
  await sql.run('LOCK TABLE millrace.logs_default IN ACCESS EXCLUSIVE MODE')
  await sql.run(`CREATE TABLE millrace.${name} (LIKE millrace.logs INCLUDING ALL) WITH (${vacuumedSoon})`)
  await sql.run(
    `WITH moved AS (DELETE FROM millrace.logs_default WHERE sequence >= ${first} AND sequence < ${end} RETURNING *)
     INSERT INTO millrace.${name} SELECT * FROM moved`,
  )
  await sql.run(`ALTER TABLE millrace.logs ATTACH PARTITION millrace.${name} FOR VALUES FROM (${first}) TO (${end})`)
}

/** Such as `logs_20250131`. */
function nameOf(time: number): string {
  return `logs_${new Date(time).toISOString().slice(0, 10).replaceAll('-', '')}`
}

function rangeOf(name: string): { first: number; end: number } {
  const [year, month, day] = [name.slice(5, 9), name.slice(9, 11), name.slice(11, 13)].map(Number)
  const at = Date.UTC(year!, month! - 1, day!)
  return { first: sequenceAt(at), end: sequenceAt(at + dayMs) }
}

const selectMissing = `
  SELECT name FROM unnest($1::text[]) name
  WHERE NOT EXISTS (
    SELECT 1 FROM pg_class WHERE relnamespace = 'millrace'::regnamespace AND relname = name
  )
  ORDER BY name COLLATE "C"`

const selectPartitions = `
  SELECT relname AS name, relispartition AS "isAttached" FROM pg_class
  WHERE relnamespace = 'millrace'::regnamespace AND relkind = 'r' AND relname ~ '^logs_[0-9]{8}$'
  ORDER BY relname COLLATE "C"`

// Counts of runs by hour read an index alone where a vacuum has been. By default, a fifth of a day has none.
const vacuumedSoon = 'autovacuum_vacuum_insert_scale_factor = 0.02'

const dayMs = 86_400_000
/** Enough for a process that cannot make partitions for a while, and for clocks that are a day ahead. */
const daysAhead = 3
const makeEveryMs = 3_600_000
const attemptsMax = 20
const pauseMsMax = 200
