import { Database } from 'bun:sqlite'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../domain/errors.ts'

export type DirectoryLock = { release(): void }

/**
 * Makes this process the one that serves from a data directory. Throws `CONFLICT` with the other's process id when there
 * is one.
 *
 * The lock is the operating system's: SQLite's write lock on an empty database file, held as long as this handle is
 * open. It ends with the process however that ends, kill -9 included, so there is no stale lock to judge and no process
 * id that may have been given to another program: the id in the file beside it is for the message only.
 * Nothing in this process may open and close the lock file in another way: that would drop the lock (a rule of POSIX).
 */
export function takeLock(directory: string): DirectoryLock {
  const pidFile = join(directory, 'millrace.pid')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = new Database(join(directory, 'millrace.lock'), { create: true, readwrite: true })
  try {
    database.run('PRAGMA busy_timeout = 0')
    // Nothing is ever written to it: a full disk must not keep the service from starting.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN IMMEDIATE')
  } catch (error) {
    database.close()
    throw lockError(error, directory, pidFile)
  }
  writePid(pidFile)
  let held = true
  return {
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

/** Whether a service runs on the directory: takes the lock for a moment. */
export function isServed(directory: string): boolean {
  try {
    takeLock(directory).release()
    return false
  } catch (error) {
    return error instanceof AppError && error.code === 'CONFLICT'
  }
}

function lockError(error: unknown, directory: string, pidFile: string): AppError {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) {
    const pid = pidIn(pidFile)
    const who = pid === undefined ? 'another process' : `process ${pid}`
    return new AppError(
      'CONFLICT',
      `${directory} is served by ${who} already. Stop it first, or choose another directory with --data.`,
    )
  }
  return new AppError(
    'STORAGE_UNAVAILABLE',
    `${directory} cannot be locked (${messageOf(error)}). Check its owner, its mode and the disk.`,
    { cause: error },
  )
}

/** For the message to a second process only: a full disk must not keep the service from starting. */
function writePid(pidFile: string): void {
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // The lock holds without it; an empty file, or that of a process long gone, would only mislead.
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
