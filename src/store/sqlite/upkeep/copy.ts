import { Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { serverOf } from '../../lock.ts'
import { storageError, unavailable } from '../failures.ts'
import { hasLegacyJournal } from '../legacy-journal/files.ts'
import { forgetLegacyJournal } from '../legacy-journal/import.ts'
import { inspectLegacyJournal } from '../legacy-journal/inspect.ts'
import { migrations } from '../migrations/migrations.ts'
import { Executor } from '../thread/executor.ts'

/**
 * Writes the contents of a database at one moment into a new file, also while a service has it open: the service goes
 * on reading and writing, but its WAL grows until the copy is done. Does not change `from`, except that it imports what
 * an earlier version left in its journal. Throws `AppError`.
 */
export function copyDatabase(from: string, to: string): void {
  // Created here for its mode; SQLite takes an empty file for a new database.
  closeSync(openSync(to, 'wx', 0o600))
  try {
    if (!existsSync(from)) throw new Error(`The file ${from} does not exist`)
    const hadJournal = hasLegacyJournal(from) && isCurrent(from)
    if (hadJournal) importJournal(from)
    const database = new Database(from, { readonly: true })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      database.run('VACUUM INTO ?', [to])
    } finally {
      database.close()
    }
    if (hadJournal) leaveJournal(to)
  } catch (error) {
    throw storageError(error, from) ?? error
  }
  moveWal(from)
}

/** Whether a database has this version's schema. Another one is copied without its journal, and not migrated. */
function isCurrent(path: string): boolean {
  const database = new Database(path, { readonly: true })
  try {
    const { user_version: version } = database.query('PRAGMA user_version').get() as { user_version: number }
    return version === migrations.length
  } finally {
    database.close()
  }
}

function importJournal(path: string): void {
  // Only the service imports records after damaged bytes: only it can know that no process is writing to the files.
  const isServed = serverOf(dirname(path)) !== undefined
  const problem = isServed ? undefined : inspectLegacyJournal(path)?.problem
  if (problem !== undefined) {
    const advice = 'Start the service once: it imports everything that can be read'
    throw unavailable(`The journal that an earlier version left is damaged: ${problem}. ${advice}`)
  }
  new Executor({ path, sync: 'full' }, { legacyJournal: 'command' }).close()
}

/** The copy does not depend on the journal next to the original. */
function leaveJournal(path: string): void {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run(forgetLegacyJournal)
  } finally {
    database.close()
  }
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
