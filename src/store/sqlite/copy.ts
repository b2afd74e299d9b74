import { Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { serverOf } from '../lock.ts'
import { Executor } from './executor.ts'
import { storageError, unavailable } from './failures.ts'
import { inspectJournal } from './inspect-journal.ts'
import { forgetGeneration, selectGeneration } from './intake.ts'
import { hasJournal } from './journal-file.ts'
import { migrations } from './migrations.ts'

/**
 * Writes what a database holds at one moment into a new file, also while a service has it open: that one goes on reading
 * and writing, but its WAL grows until this is done. `from` is not changed, whatever its schema, but for what its journal
 * holds. Throws `AppError`.
 */
export function copyDatabase(from: string, to: string): void {
  // Made here for its mode; SQLite takes an empty file for a new one.
  closeSync(openSync(to, 'wx', 0o600))
  try {
    if (!existsSync(from)) throw new Error(`There is no ${from}`)
    const isFollowed = hasJournal(from) && followsJournal(from)
    if (isFollowed) takeInJournal(from)
    const database = new Database(from, { readonly: true })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      database.run('VACUUM INTO ?', [to])
    } finally {
      database.close()
    }
    if (isFollowed) leaveJournal(to)
  } catch (error) {
    throw storageError(error, from) ?? error
  }
  moveWal(from)
}

/** Whether a database has not taken in all of its journal, or is still being served. One of another schema does without. */
function followsJournal(path: string): boolean {
  const database = new Database(path, { readonly: true })
  try {
    const { user_version: version } = database.query('PRAGMA user_version').get() as { user_version: number }
    return version === migrations.length && database.query(selectGeneration).get() !== null
  } finally {
    database.close()
  }
}

function takeInJournal(path: string): void {
  // What lies behind the damage only the service may take in, which knows that nobody else writes there.
  const problem = inspectJournal(path, serverOf(dirname(path)) !== undefined)?.problem
  if (problem !== undefined) {
    throw unavailable(`Its journal is damaged: ${problem}. Start the service first: it takes in all that can be read`)
  }
  const executor = new Executor({ path, sync: 'full' }, { journal: { own: false } })
  try {
    executor.takeIn()
  } finally {
    executor.close()
  }
}

/** A copy has no journal, wherever it is put. */
function leaveJournal(path: string): void {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run(forgetGeneration)
  } finally {
    database.close()
  }
}

/** A WAL that grew meanwhile is moved into the database from here, where no caller of the service waits for it. */
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
    // The copy is made; the service moves its WAL itself.
  }
}

const walBytesMax = 16_777_216
