import { Database } from 'bun:sqlite'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../domain/errors.ts'

export type DirectoryLock = {
  /** Tells commands which key this process encrypts with (`keyOfServer`). */
  noteKey(keyId: string): void
  release(): void
}

/**
 * Makes this process the one that serves from a data directory. Throws `CONFLICT` with the process ID of another one
 * that already does.
 *
 * The lock is the operating system's: SQLite's write lock on an empty database file, held as long as this handle is
 * open. It ends with the process however that ends, kill -9 included, so there is no stale lock to judge and no process
 * id that may have been given to another program: the id in the file next to it is only a message. Nothing in
 * this process may open and close the lock file in another way: that would drop the lock (a rule of POSIX).
 */
export function takeLock(directory: string): DirectoryLock {
  const pidFile = join(directory, 'millrace.pid')
  // Long enough for a process that only checks the lock (`serverOf`) at the same moment.
  const database = holdLock(directory, 50)
  writePid(pidFile)
  let held = true
  return {
    noteKey: (keyId) => writePid(pidFile, `${keyId}\n`),
    release() {
      if (!held) return
      held = false
      // In this order, so that the next process's id is not removed. The lock file stays: the next process may have
      // opened it by now.
      rmSync(pidFile, { force: true })
      database.close()
    },
  }
}

/**
 * Describes the process that serves from the directory, as far as it is known; undefined when none does. Throws like
 * `takeLock`.
 */
export function serverOf(directory: string): string | undefined {
  try {
    holdLock(directory, 0).close()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') return whoHolds(directory)
    throw error
  }
}

/**
 * The key that the process that serves from the directory encrypts with, as it noted it; undefined when none serves,
 * or it has not noted one.
 */
export function keyOfServer(directory: string): string | undefined {
  if (serverOf(directory) === undefined) return undefined
  try {
    return readFileSync(join(directory, 'millrace.pid'), 'utf8').split('\n')[1] || undefined
  } catch {
    return undefined
  }
}

function holdLock(directory: string, waitMs: number): Database {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let database: Database | undefined
  const file = join(directory, 'millrace.lock')
  try {
    keepToOwner(file)
    database = new Database(file, { create: true, readwrite: true })
    database.run(`PRAGMA busy_timeout = ${waitMs}`)
    // SQLite never writes to this file, so the service can start on a full disk.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN IMMEDIATE')
    return database
  } catch (error) {
    database?.close()
    throw lockError(error, directory)
  }
}

/**
 * Keeps other users from opening the file, because they could hold the lock. It is opened only if it is new: then this
 * process holds no lock that closing it would drop.
 */
function keepToOwner(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
  } catch {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found?.isFile() && (found.mode & 0o077) !== 0) chmodSync(file, 0o600)
  }
}

function lockError(error: unknown, directory: string): AppError {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) {
    return new AppError(
      'CONFLICT',
      `The data directory ${directory} is in use by ${whoHolds(directory)}. Stop that process, or choose another ` +
        'directory with --data.',
    )
  }
  return new AppError(
    'STORAGE_UNAVAILABLE',
    `${directory} cannot be locked (${messageOf(error)}). Check its owner, its mode and the disk.`,
    { cause: error },
  )
}

function whoHolds(directory: string): string {
  const pid = pidIn(join(directory, 'millrace.pid'))
  return pid === undefined ? 'another process' : `process ${pid}`
}

/**
 * For the error message of a second process and for `env rotate`, so the service starts even if a full disk prevents
 * this write.
 */
function writePid(pidFile: string, more = ''): void {
  try {
    writeFileSync(pidFile, `${process.pid}\n${more}`, { mode: 0o600 })
  } catch {
    // The lock works without this file. An empty or outdated file would only mislead.
    rmSync(pidFile, { force: true })
  }
}

function pidIn(pidFile: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
    return Number.isInteger(pid) ? pid : undefined
  } catch {
    return undefined
  }
}
