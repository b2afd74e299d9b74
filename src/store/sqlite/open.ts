import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, messageOf } from '../../domain/errors.ts'
import { Connection, type Sql } from './connection.ts'
import { storageError, unavailable } from './failures.ts'
import { migrate, migrations, schemaVersionOf } from './migrations/migrations.ts'

/** `full`: an acknowledged commit survives a power cut. `normal`: it survives the process, not the machine. */
export type Sync = 'full' | 'normal'

export type OpenOptions = {
  path: string
  sync: Sync
  /** The caller makes checkpoints (see `Checkpoints`); otherwise SQLite makes them inside commits. */
  manualCheckpoints?: boolean
  /** How long a write waits for another process; 5 s when absent. */
  busyTimeoutMs?: number
  /** See `Sql`. Functions do not cross to other threads. */
  yieldIfDue?: Sql['yieldIfDue']
  /** Also opens a database that `millrace move` has not completed. */
  acceptsUnfinished?: boolean
}

export const databaseName = 'millrace.db'

/** "MilR": distinguishes our files from the databases of other programs. */
export const applicationId = 0x4d696c52
/** "MilM": `millrace move` has not completed the database. */
export const unfinishedMoveId = 0x4d696c4d

/** Opens the database, creates it when there is none, and migrates its schema. Throws `AppError`. */
export function openConnection(options: OpenOptions): Connection {
  const { path, yieldIfDue } = options
  let connection: Connection | undefined
  try {
    createFile(path)
    connection = new Connection(path, yieldIfDue)
    configure(connection, options)
    check(connection, options)
    migrate(connection)
    return connection
  } catch (error) {
    connection?.close()
    throw storageError(error, path) ?? error
  }
}

/** The pragma that decides whether a commit waits for the disk. */
export function synchronousOf(sync: Sync): string {
  return `PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`
}

export function databasePath(directory: string): string {
  return join(directory, databaseName)
}

/** Only the owner can read the database, and the directory when this creates it. */
function createFile(path: string): void {
  const directory = join(path, '..')
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    const problem =
      storageError(error, path)?.message ??
      `The folder ${directory} cannot be created: ${messageOf(error)}. ${elsewhere}`
    throw unavailable(problem, error)
  }
  try {
    // Only a new file may be opened and closed outside SQLite: closing any descriptor of a file drops all POSIX locks
    // that this process holds on it. The -wal and -shm files inherit the mode.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const elsewhere = 'Choose another folder, or remove what is in its place.'

function configure(connection: Connection, { sync, manualCheckpoints, busyTimeoutMs = 5_000 }: OpenOptions): void {
  // First, because switching to WAL already takes a lock.
  connection.script(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  // Before the first table: later it has no effect. On an existing database it would still be a write, and opening must
  // work on a full disk.
  const { page_count: pages } = connection.get<{ page_count: number }>('PRAGMA page_count') ?? { page_count: 0 }
  if (pages === 0) connection.script('PRAGMA auto_vacuum = INCREMENTAL')
  connection.script('PRAGMA journal_mode = WAL')
  connection.script(synchronousOf(sync))
  connection.script('PRAGMA foreign_keys = ON')
  connection.script('PRAGMA temp_store = MEMORY')
  connection.script('PRAGMA cache_size = -8000')
  connection.script('PRAGMA journal_size_limit = 67108864')
  // Never 0: a forgotten checkpoint would let the WAL fill the disk. 4 GB is more than a backup leaves behind; the
  // commit that passes this size moves all of it.
  connection.script(`PRAGMA wal_autocheckpoint = ${manualCheckpoints ? 1_000_000 : 1_000}`)
}

/** The error of everybody who opens the database of a move that was interrupted, or that runs. */
export function unfinishedMove(path: string): AppError {
  return new AppError(
    'STORAGE_UNAVAILABLE',
    `${path} is from an unfinished move. Run the same millrace move again: it continues. ` +
      `To give it up, delete ${path} and the files next to it whose names begin with ${databaseName}.`,
  )
}

function check(connection: Connection, { path, acceptsUnfinished }: OpenOptions): void {
  const id = connection.get<{ application_id: number }>('PRAGMA application_id')?.application_id ?? 0
  const version = schemaVersionOf(connection)
  if (version > migrations.length) {
    throw new AppError(
      'STORAGE_UNAVAILABLE',
      `${path} was written by a newer Millrace (schema ${version}; this one knows up to ${migrations.length}). ` +
        'Start that version, or restore a backup made with this one.',
    )
  }
  if (id === applicationId || (id === unfinishedMoveId && acceptsUnfinished)) return
  if (id === unfinishedMoveId) throw unfinishedMove(path)
  const { count } = connection.get<{ count: number }>('SELECT count(*) AS count FROM sqlite_schema') ?? { count: 0 }
  if (id !== 0 || count > 0) {
    throw new AppError('STORAGE_UNAVAILABLE', `${path} is the database of another program. Choose another directory.`)
  }
  connection.script(`PRAGMA application_id = ${applicationId}`)
}
