import { Database } from 'bun:sqlite'
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { serverOf } from '../../lock.ts'
import { storageError, unavailable } from '../failures.ts'
import { hasLegacyJournal, legacyJournalPaths } from '../legacy-journal/files.ts'
import { forgetLegacyJournal } from '../legacy-journal/import.ts'
import { inspectLegacyJournal } from '../legacy-journal/inspect.ts'
import { unfinishedMove, unfinishedMoveId } from '../open.ts'
import { Executor } from '../thread/executor.ts'

/**
 * Writes the contents of a database at one moment into a new file, also while a service has it open: the service goes
 * on reading and writing, but its WAL grows until the copy is done. Does not change `from`. The copy also has what an
 * earlier version left in its journal, and then this version's schema. Throws `AppError`.
 */
export function copyDatabase(from: string, to: string): void {
  try {
    if (!existsSync(from)) throw new Error(`The file ${from} does not exist`)
    if (hasLegacyJournal(from)) copyWithJournal(from, to)
    else copyFile(from, to)
  } catch (error) {
    throw storageError(error, from) ?? error
  }
  moveWal(from)
}

function copyFile(from: string, to: string): void {
  // Created here for its mode; SQLite takes an empty file for a new database.
  closeSync(openSync(to, 'wx', 0o600))
  const database = new Database(from, { readonly: true })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    const found = database.query<{ id: number }, []>('SELECT application_id AS id FROM pragma_application_id').get()
    if (found?.id === unfinishedMoveId) throw unfinishedMove(from)
    database.run('VACUUM INTO ?', [to])
  } finally {
    database.close()
  }
}

/** Imports the journal next to `from` into the copy, in a folder of its own: a journal has a fixed name. */
function copyWithJournal(from: string, to: string): void {
  checkJournal(from)
  const folder = `${to}-import`
  mkdirSync(folder, { mode: 0o700 })
  try {
    const copy = join(folder, basename(to))
    copyFile(from, copy)
    const journals = legacyJournalPaths(copy)
    for (const [index, path] of legacyJournalPaths(from).entries()) {
      if (existsSync(path)) copyFileSync(path, journals[index] as string)
    }
    new Executor({ path: copy, sync: 'full' }, { legacyJournal: 'command' }).close()
    const database = new Database(copy, { readwrite: true, create: false })
    try {
      database.run(forgetLegacyJournal)
    } finally {
      database.close()
    }
    renameSync(copy, to)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Only the service imports records after damaged bytes: only it can know that no process is writing to the files. */
function checkJournal(path: string): void {
  const isServed = serverOf(dirname(path)) !== undefined
  const problem = isServed ? undefined : inspectLegacyJournal(path)?.problem
  if (problem === undefined) return
  const advice = 'Start the service once: it imports everything that can be read'
  throw unavailable(`The journal that an earlier version left is damaged: ${problem}. ${advice}`)
}

/** Moves a WAL that grew meanwhile into the database, where no caller of the service waits for it. */
function moveWal(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) < walBytesMax) return
  try {
    const database = new Database(path, { readwrite: true, create: false })
    try {
      database.query('PRAGMA wal_checkpoint(PASSIVE)').get()
    } finally {
      database.close()
    }
  } catch {
    // The copy is complete; the service moves its WAL by itself.
  }
}

const walBytesMax = 16_777_216
