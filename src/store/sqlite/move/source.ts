import { existsSync } from 'node:fs'
import { AppError } from '../../../domain/errors.ts'
import { serverOf, takeLock } from '../../lock.ts'
import { batchRowsMax, batchSizeMax, sizeOf } from '../../move/row.ts'
import type { MoveSource } from '../../move/sides.ts'
import { type MovedTable, numberedTables, type Row } from '../../move/tables.ts'
import { Connection, type Value } from '../connection.ts'
import { storageError } from '../failures.ts'
import { inspectLegacyJournal } from '../legacy-journal/inspect.ts'
import { migrations, schemaVersionOf } from '../migrations/migrations.ts'
import { applicationId, databasePath, unfinishedMove, unfinishedMoveId } from '../open.ts'
import { sealHeads } from '../tables/environment.ts'
import { isInitialised } from '../tables/installation.ts'
import { sampleSealedDocuments } from '../tables/sealed-documents.ts'
import { logRows } from './log-reader.ts'
import { cellOf, countText, selectText } from './row-texts.ts'

/**
 * Opens the installation in a data folder to read all of it. Meanwhile no service can start on it, and nothing can be
 * written. Rejects with `CONFLICT` when a service runs on it, or there is nothing that this version can read.
 */
export async function withSqliteSource<Result>(
  folder: string,
  work: (source: MoveSource) => Promise<Result>,
): Promise<Result> {
  const path = databasePath(folder)
  if (!existsSync(path)) throw refusal(`There is no installation in ${folder}.`)
  const lock = lockForMove(folder)
  let connection: Connection | undefined
  try {
    connection = new Connection(path)
    connection.script('PRAGMA busy_timeout = 5000')
    check(connection, folder)
    // Commands would write while this reads. They get an error instead, and the rows are those of one moment.
    connection.script('BEGIN IMMEDIATE')
    return await work(sourceOf(connection))
  } catch (error) {
    throw storageError(error, path) ?? error
  } finally {
    // Ends the transaction, too.
    connection?.close()
    lock.release()
  }
}

/** Keeps services from the folder. */
export function lockForMove(folder: string): ReturnType<typeof takeLock> {
  const server = existsSync(folder) ? serverOf(folder) : undefined
  if (server !== undefined) throw refusal(`A service runs on ${folder} (${server}). Stop it first.`)
  return takeLock(folder)
}

function check(connection: Connection, folder: string): void {
  const path = databasePath(folder)
  const { application_id: id } = connection.get<{ application_id: number }>('PRAGMA application_id')!
  if (id === unfinishedMoveId) throw unfinishedMove(path)
  const version = schemaVersionOf(connection)
  if (version > migrations.length) {
    throw refusal(`${path} was written by a newer version of Millrace. Use that version to move it.`)
  }
  const isOurs = id === applicationId
  if (isOurs && (version < migrations.length || hasUnreadJournal(path))) {
    throw refusal(
      `${path} was last used by an earlier version of Millrace. Start this version on it once, and stop it.`,
    )
  }
  if (!isOurs || !isInitialised(connection)) throw refusal(`There is no installation in ${folder}.`)
}

/** Whether an earlier version left runs in its journal. Copies of damaged journals stay for good. */
function hasUnreadJournal(path: string): boolean {
  const journal = inspectLegacyJournal(path)
  return journal !== undefined && (journal.kept.length === 0 || journal.runs > 0 || journal.problem !== undefined)
}

export function sourceOf(connection: Connection): MoveSource {
  return {
    async *rows(table, after = 0) {
      if (table.name === 'logs') yield* logRows(connection, after)
      else yield* tableRows(connection, table, after)
    },
    count: async (table) => connection.get<{ count: number }>(countText(table))!.count,
    highestNumbers: async () =>
      Object.fromEntries(
        numberedTables.map((name) => [name, connection.get<{ seq: number }>(selectHighest, name)?.seq ?? 0]),
      ),
    sealed: async (headBytes) => ({
      heads: sealHeads(connection, headBytes),
      documents: sampleSealedDocuments(connection),
    }),
  }
}

const selectHighest = 'SELECT seq FROM sqlite_sequence WHERE name = ?'

function* tableRows(connection: Connection, table: MovedTable, after: number): Generator<Row[]> {
  const types = Object.values(table.columns)
  let batch: Row[] = []
  let size = 0
  let last: unknown
  const found = connection.iterate<Record<string, Value>>(selectText(table), ...(table.bySequence ? [after] : []))
  for (const values of found) {
    const isFull = batch.length >= batchRowsMax || size >= batchSizeMax
    if (isFull && !(table.bySequence && values['sequence'] === last)) {
      yield batch
      batch = []
      size = 0
    }
    last = values['sequence']
    const row = Object.values(values).map((value, index) => cellOf(types[index]!, value))
    batch.push(row)
    size += sizeOf(row)
  }
  if (batch.length > 0) yield batch
}

function refusal(message: string): AppError {
  return new AppError('CONFLICT', message)
}
