import { AppError } from '../../../domain/errors.ts'
import { timeOfSequence } from '../../../domain/ids.ts'
import type { MoveSource, MoveTarget, Note } from '../../move/sides.ts'
import { type MovedTable, movedTables, type Row } from '../../move/tables.ts'
import { parseAddress } from '../address.ts'
import { checkServerForMove, isUnfinished } from '../check-server.ts'
import { Database } from '../connection.ts'
import { migrate, schemaVersionOf } from '../migrations/migrations.ts'
import { isInitialised } from '../tables/installation.ts'
import { makePartitions, makePartitionsAt } from '../upkeep/partitions.ts'
import { linesOf } from './copy-text.ts'
import { withMoveLock } from './move-lock.ts'
import { copyInText } from './row-texts.ts'
import { withSnapshot } from './source.ts'

/**
 * Opens a database for a move: one without an installation, or the one of an unfinished move. Rejects with `CONFLICT`
 * when it holds an installation, or a service runs on it.
 */
export async function withPostgresTarget<Result>(
  url: string,
  work: (target: MoveTarget) => Promise<Result>,
): Promise<Result> {
  // One connection for the lock, one for everything else.
  const database = new Database({ address: parseAddress(url), connectionsMax: 2, isPatient: true })
  try {
    await checkServerForMove(database)
    return await withMoveLock(database, async () => {
      const target = new PostgresTarget(database)
      await target.open()
      return await work(target)
    })
  } finally {
    await database.close()
  }
}

class PostgresTarget implements MoveTarget {
  readonly #database: Database
  #partitionedTo = 0

  constructor(database: Database) {
    this.#database = database
  }

  async open(): Promise<void> {
    const database = this.#database
    const found = await database.get<{ isUnfinished: boolean }>(`SELECT ${isUnfinished} AS "isUnfinished"`)
    if (found?.isUnfinished) return
    const isThere = (await schemaVersionOf(database)) > 0 && (await isInitialised(database))
    if (isThere) {
      throw new AppError('CONFLICT', 'The PostgreSQL database already holds an installation. Nothing was changed.')
    }
    await migrate(database)
    await database.run('CREATE TABLE millrace.unfinished_move (name text PRIMARY KEY, value text NOT NULL)')
  }

  async note(name: string): Promise<string | undefined> {
    const select = 'SELECT value FROM millrace.unfinished_move WHERE name = $1'
    return (await this.#database.get<{ value: string }>(select, name))?.value
  }

  async setNote(name: string, value: string): Promise<void> {
    await this.#database.run(upsertNote, name, value)
  }

  async addAll(table: MovedTable, batches: AsyncIterable<readonly Row[]>, note: Note): Promise<void> {
    const types = Object.values(table.columns)
    const lines = async function* () {
      for await (const rows of batches) yield linesOf(types, rows)
    }
    await this.#copy(table, lines(), note)
  }

  async addSome(table: MovedTable, rows: readonly Row[], note: Note): Promise<void> {
    // Before the transaction that writes to the log, because partitions are made in transactions of their own.
    if (table.name === 'logs') await this.#makePartitions(rows)
    const lines = async function* () {
      yield linesOf(Object.values(table.columns), rows)
    }
    await this.#copy(table, lines(), note)
  }

  async #copy(table: MovedTable, lines: AsyncIterable<string>, note: Note): Promise<void> {
    await this.#database.bulk('BEGIN', async (sql, copier) => {
      await sql.run('SET LOCAL statement_timeout = 0')
      // Commits reach the disk in their order, so the notes are right whatever happens. The last commit waits for it.
      await sql.run('SET LOCAL synchronous_commit = off')
      await copier.in(copyInText(table), lines)
      await sql.run(upsertNote, note.name, note.value)
    })
  }

  read<Result>(work: (rows: Pick<MoveSource, 'rows'>) => Promise<Result>): Promise<Result> {
    return withSnapshot(this.#database, work)
  }

  async finish(highestNumbers: Readonly<Record<string, number>>): Promise<void> {
    const database = this.#database
    await makePartitions(database, Date.now())
    await database.bulk('BEGIN', async (sql) => {
      await sql.run('SET LOCAL statement_timeout = 0')
      for (const { name } of movedTables) await sql.run(`ANALYZE millrace.${name}`)
      for (const { name } of await sql.all<{ name: string }>(selectIdentities)) {
        await sql.get(setHighest(name), highestNumbers[name] ?? 0)
      }
      await sql.run('DROP TABLE millrace.unfinished_move')
    })
  }

  async clear(): Promise<void> {
    await this.#database.bulk('BEGIN', async (sql) => {
      await sql.run('SET LOCAL statement_timeout = 0')
      await sql.run('DROP SCHEMA millrace CASCADE')
    })
    this.#partitionedTo = 0
    await this.open()
  }

  /** Old entries have partitions as well, so that retention can delete them by the day. */
  async #makePartitions(rows: readonly Row[]): Promise<void> {
    const days = new Set<number>()
    for (const row of rows) days.add(Math.floor(timeOfSequence(row[0] as number) / dayMs))
    const missing = [...days].filter((day) => day > this.#partitionedTo)
    if (missing.length === 0) return
    await makePartitionsAt(
      this.#database,
      missing.map((day) => day * dayMs),
    )
    this.#partitionedTo = Math.max(...missing)
  }
}

const upsertNote = `
  INSERT INTO millrace.unfinished_move (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** The tables whose rows the database numbers. */
const selectIdentities = `
  SELECT table_name AS name FROM information_schema.columns
  WHERE table_schema = 'millrace' AND column_name = 'number' AND is_identity = 'YES'`

const setHighest = (table: string) => `
  SELECT setval(pg_get_serial_sequence('millrace.${table}', 'number'), greatest(highest, 1), highest > 0)
  FROM (SELECT greatest($1::bigint, max(number)) AS highest FROM millrace.${table}) AS numbers`

const dayMs = 86_400_000
