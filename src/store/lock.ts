import { Database } from 'bun:sqlite'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Lock = { release(): void }

/** Somebody else serves from this directory. */
export class DirectoryLocked extends Error {
  /** Undefined when it could not be read. */
  readonly pid: number | undefined
  constructor(directory: string, pid: number | undefined) {
    super(
      `The data directory ${directory} is in use by another process${pid === undefined ? '' : ` (process id ${pid})`}.`,
    )
    this.name = 'DirectoryLocked'
    this.pid = pid
  }
}

/**
 * Takes a data directory for this process. The lock is one of the operating system, held through a small SQLite file:
 * it goes with the process however that ends, and no process id of the dead can be mistaken for a living one.
 * Throws `DirectoryLocked`.
 */
export function takeLock(directory: string): Lock {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const database = new Database(join(directory, lockName), { create: true })
  try {
    // Not WAL: there the lock of a transaction would not keep readers out, and would leave more files behind.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY'))
      throw new DirectoryLocked(directory, pidIn(directory))
    throw error
  }
  writeFileSync(join(directory, pidName), `${process.pid}\n`)
  return {
    release() {
      rmSync(join(directory, pidName), { force: true })
      database.close()
    },
  }
}

/** Who serves from a directory; undefined when nobody does. */
export function readLock(directory: string): { pid: number | undefined } | undefined {
  try {
    takeLock(directory).release()
    return undefined
  } catch (error) {
    if (error instanceof DirectoryLocked) return { pid: error.pid }
    throw error
  }
}

const lockName = 'millrace.lock'
const pidName = 'millrace.pid'

function pidIn(directory: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(directory, pidName), 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
