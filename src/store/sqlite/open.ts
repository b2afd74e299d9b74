import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../../domain/errors.ts'
import { Connection, type Sql } from './connection.ts'
import { storageError, unavailable } from './failures.ts'
import { migrate, migrations, schemaVersionOf } from './migrations.ts'

/** `full`: an acknowledged commit survives a power cut. `normal`: it survives the process, not the machine. */
export type Sync = 'full' | 'normal'

export type OpenOptions = {
  path: string
  sync: Sync
  /** Checkpoints are the caller's (see `Checkpoints`); else SQLite makes them inside commits. */
  manualCheckpoints?: boolean
  /** How long a write waits for another process; 5 s when absent. */
  busyTimeoutMs?: number
  /** As `Sql` has it. Does not cross to other threads. */
  breathe?: Sql['breathe']
}

export const databaseName = 'millrace.db'

/** "MilR": tells a file of ours from another program's database. */
export const applicationId = 0x4d696c52

/** Opens the database, makes it when there is none, and brings its schema up to date. Throws `AppError` for people. */
export function openConnection(options: OpenOptions): Connection {
  const { path, breathe } = options
  let connection: Connection | undefined
  try {
    createFile(path)
    connection = new Connection(path, breathe)
    configure(connection, options)
    check(connection, path)
    migrate(connection)
    return connection
  } catch (error) {
    connection?.close()
    throw storageError(error, path) ?? error
  }
}

/** Whether a commit waits until the disk has it. */
export function synchronousOf(sync: Sync): string {
  return `PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`
}

export function databasePath(directory: string): string {
  return join(directory, databaseName)
}

/** The database is readable by its owner only, and so is the directory when it is made here. */
function createFile(path: string): void {
  const directory = join(path, '..')
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const problem =
      storageError(error, path)?.message ?? `The folder ${directory} cannot be made: ${messageOf(error)}. ${elsewhere}`
    throw unavailable(problem, error)
  }
  try {
    // Only a file that was not there may be opened and closed beside SQLite: closing any descriptor of a file drops
    // all POSIX locks that this process holds on it. The -wal and -shm files inherit the mode.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const elsewhere = 'Choose another one, or put right what stands in its place.'

function configure(connection: Connection, { sync, manualCheckpoints, busyTimeoutMs = 5_000 }: OpenOptions): void {
  // First, because switching to WAL already takes a lock.
  connection.script(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  // Before anything is written: it has no effect once the first table exists. On a database that has it already it
  // would be a write all the same, and opening for reading must work on a full disk.
  const { page_count: pages } = connection.get<{ page_count: number }>('PRAGMA page_count') ?? { page_count: 0 }
  if (pages === 0) connection.script('PRAGMA auto_vacuum = INCREMENTAL')
  connection.script('PRAGMA journal_mode = WAL')
  connection.script(synchronousOf(sync))
  connection.script('PRAGMA foreign_keys = ON')
  connection.script('PRAGMA temp_store = MEMORY')
  connection.script('PRAGMA cache_size = -8000')
  connection.script('PRAGMA journal_size_limit = 67108864')
  // Never 0: a checkpoint that is forgotten would let the WAL fill the disk. 4 GB is more than a backup leaves behind, and
  // then the commit that passes the mark would move it all.
  connection.script(`PRAGMA wal_autocheckpoint = ${manualCheckpoints ? 1_000_000 : 1_000}`)
}

function check(connection: Connection, path: string): void {
  const id = connection.get<{ application_id: number }>('PRAGMA application_id')?.application_id ?? 0
  const version = schemaVersionOf(connection)
  if (version > migrations.length) {
    throw new AppError(
      'STORAGE_UNAVAILABLE',
      `${path} was written by a newer Millrace (schema ${version}; this one knows up to ${migrations.length}). ` +
        'Start that version, or restore a backup made with this one.',
    )
  }
  if (id === applicationId) return
  const { count } = connection.get<{ count: number }>('SELECT count(*) AS count FROM sqlite_schema') ?? { count: 0 }
  if (id !== 0 || count > 0) {
    throw new AppError('STORAGE_UNAVAILABLE', `${path} is the database of another program. Choose another directory.`)
  }
  connection.script(`PRAGMA application_id = ${applicationId}`)
}
