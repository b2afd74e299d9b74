import { AppError } from '../../../domain/errors.ts'
import { batchRowsMax, batchSizeMax, sizeOf } from '../../move/row.ts'
import type { MoveSource } from '../../move/sides.ts'
import { type MovedTable, numberedTables, type Row } from '../../move/tables.ts'
import { parseAddress } from '../address.ts'
import { checkServer } from '../check-server.ts'
import { Database, listOf, type Sql } from '../connection.ts'
import type { Copier } from '../copier.ts'
import { migrations, schemaVersionOf } from '../migrations/migrations.ts'
import { sealHeads } from '../tables/environment.ts'
import { isInitialised } from '../tables/installation.ts'
import { sampleSealedDocuments } from '../tables/sealed-documents.ts'
import { listPartitions } from '../upkeep/partitions.ts'
import { linesIn, rowIn } from './copy-text.ts'
import { withMoveLock } from './move-lock.ts'
import { countText, selectText } from './row-texts.ts'

/**
 * Opens the installation in a database to read all of it as it is at this moment. Meanwhile no service and no command
 * can open it. Rejects with `CONFLICT` when a service runs on it, or there is nothing that this version can read.
 */
export async function withPostgresSource<Result>(
  url: string,
  work: (source: MoveSource) => Promise<Result>,
): Promise<Result> {
  // One connection for the lock, one to read.
  const database = new Database({ address: parseAddress(url), connectionsMax: 2, isPatient: true })
  try {
    await checkServer(database)
    await checkInstallation(database)
    return await withMoveLock(database, () => withSnapshot(database, work))
  } finally {
    await database.close()
  }
}

async function checkInstallation(sql: Sql): Promise<void> {
  const version = await schemaVersionOf(sql)
  if (version === 0) throw refusal('There is no installation in the PostgreSQL database to move from.')
  if (version > migrations.length) {
    throw refusal('A newer version of Millrace has changed the PostgreSQL database. Use that version to move it.')
  }
  if (version < migrations.length) {
    throw refusal(
      'The PostgreSQL database was last used by an earlier version of Millrace. Start this version on it once, and ' +
        'stop it.',
    )
  }
  if (!(await isInitialised(sql))) throw refusal('The installation in the PostgreSQL database to move from is empty.')
}

/** Reads the rows as they are at one moment. */
export async function withSnapshot<Result>(
  database: Database,
  work: (source: MoveSource) => Promise<Result>,
): Promise<Result> {
  return await database.bulk('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async (sql, copier) => {
    for (const setting of settings) await sql.run(`SET LOCAL ${setting}`)
    return await work(await sourceOf(sql, copier))
  })
}

/**
 * A copy takes minutes. Its texts have to be exact. Rows are read along an index, because a sort of the whole log would
 * need as much space again.
 */
const settings = [
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
  'extra_float_digits = 1',
  "bytea_output = 'hex'",
  'enable_sort = off',
  'enable_seqscan = off',
  'jit = off',
]

async function sourceOf(sql: Sql, copier: Copier): Promise<MoveSource> {
  const detached = (await listPartitions(sql)).filter(({ isAttached }) => !isAttached)
  return {
    rows: (table, after = 0) => batchesOf(table, copier.out(`COPY (${selectText(table, detached, after)}) TO STDOUT`)),
    count: async (table) => (await sql.get<{ count: number }>(countText(table, detached)))!.count,
    highestNumbers: async () => {
      const rows = await sql.all<{ name: string; highest: number }>(selectHighest, listOf(numberedTables))
      return Object.fromEntries(rows.map(({ name, highest }) => [name, highest]))
    },
    sealed: async (headBytes) => ({
      heads: await sealHeads(sql, headBytes),
      documents: await sampleSealedDocuments(sql),
    }),
  }
}

const selectHighest = `
  SELECT name, coalesce(pg_sequence_last_value(pg_get_serial_sequence('millrace.' || name, 'number')), 0) AS highest
  FROM unnest($1::text[]) name`

async function* batchesOf(table: MovedTable, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  const types = Object.values(table.columns)
  let batch: Row[] = []
  let size = 0
  for await (const lines of linesIn(pieces)) {
    for (const line of lines) {
      const row = rowIn(types, line)
      const isFull = batch.length >= batchRowsMax || size >= batchSizeMax
      if (isFull && !(table.bySequence && row[0] === batch.at(-1)![0])) {
        yield batch
        batch = []
        size = 0
      }
      batch.push(row)
      size += sizeOf(row)
    }
  }
  if (batch.length > 0) yield batch
}

function refusal(message: string): AppError {
  return new AppError('CONFLICT', message)
}
