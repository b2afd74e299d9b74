import { existsSync, rmSync } from 'node:fs'
import { AppError } from '../../../domain/errors.ts'
import { syncFolder } from '../../../sync-folder.ts'
import type { MoveSource, MoveTarget, Note } from '../../move/sides.ts'
import { type MovedTable, numberedTables, type Row } from '../../move/tables.ts'
import type { Connection } from '../connection.ts'
import { storageError } from '../failures.ts'
import { ZoneMapMaker } from '../logs/zone-maps.ts'
import { applicationId, databasePath, openConnection, unfinishedMoveId } from '../open.ts'
import { isInitialised } from '../tables/installation.ts'
import { insertLogRows } from './log-writer.ts'
import { insertText, storedValue } from './row-texts.ts'
import { lockForMove, sourceOf } from './source.ts'

/**
 * Opens the database of a data folder for a move: a new one, or the one of an unfinished move. Rejects with `CONFLICT`
 * when the folder holds an installation, or a service runs on it.
 */
export async function withSqliteTarget<Result>(
  folder: string,
  work: (target: MoveTarget) => Promise<Result>,
): Promise<Result> {
  const lock = lockForMove(folder)
  const path = databasePath(folder)
  const target = new SqliteTarget(path)
  try {
    target.open(folder)
    const result = await work(target)
    await syncFolder(folder)
    return result
  } catch (error) {
    throw storageError(error, path) ?? error
  } finally {
    target.close()
    lock.release()
  }
}

class SqliteTarget implements MoveTarget {
  readonly #path: string
  #opened: Connection | undefined

  constructor(path: string) {
    this.#path = path
  }

  open(folder: string): void {
    // Each commit is in the WAL, in order. After a power cut, the last ones may be missing, with their notes.
    const connection = openConnection({ path: this.#path, sync: 'normal', acceptsUnfinished: true })
    this.#opened = connection
    const { application_id: id } = connection.get<{ application_id: number }>('PRAGMA application_id')!
    if (id === unfinishedMoveId) return
    if (isInitialised(connection)) {
      throw new AppError('CONFLICT', `${folder} already holds an installation. Nothing was changed.`)
    }
    connection.write(() => {
      connection.script('CREATE TABLE unfinished_move (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT')
      connection.script(`PRAGMA application_id = ${unfinishedMoveId}`)
    })
  }

  close(): void {
    this.#opened?.close()
    this.#opened = undefined
  }

  async note(name: string): Promise<string | undefined> {
    const select = 'SELECT value FROM unfinished_move WHERE name = ?'
    return this.#connection.get<{ value: string }>(select, name)?.value
  }

  async setNote(name: string, value: string): Promise<void> {
    this.#connection.run(upsertNote, name, value)
  }

  async addAll(table: MovedTable, batches: AsyncIterable<readonly Row[]>, note: Note): Promise<void> {
    const insert = inserting(table)
    const connection = this.#connection
    connection.script('BEGIN IMMEDIATE')
    try {
      for await (const rows of batches) insert(connection, rows)
      connection.run(upsertNote, note.name, note.value)
      connection.script('COMMIT')
    } catch (error) {
      connection.rollBack()
      throw error
    }
  }

  async addSome(table: MovedTable, rows: readonly Row[], note: Note): Promise<void> {
    const insert = table.name === 'logs' ? insertLogRows : inserting(table)
    const connection = this.#connection
    connection.write(() => {
      insert(connection, rows)
      connection.run(upsertNote, note.name, note.value)
    })
  }

  read<Result>(work: (rows: Pick<MoveSource, 'rows'>) => Promise<Result>): Promise<Result> {
    return work(sourceOf(this.#connection))
  }

  async finish(highestNumbers: Readonly<Record<string, number>>): Promise<void> {
    const connection = this.#connection
    const zones = new ZoneMapMaker()
    while (connection.write(() => severalSteps(() => zones.step(connection, undefined)))) {
      // Other work gets a turn.
      await Bun.sleep(0)
    }
    // Everything before is on the disk with this commit.
    connection.script('PRAGMA synchronous = FULL')
    connection.write(() => {
      // Compaction need not look at the chunks so far.
      connection.run(`
        INSERT INTO marks (name, value) SELECT 'packed', max(first_sequence) FROM log_chunks
        WHERE first_sequence IS NOT NULL HAVING count(*) > 0`)
      for (const name of numberedTables) {
        connection.run('DELETE FROM sqlite_sequence WHERE name = ?', name)
        connection.run(insertHighest(name), name, highestNumbers[name] ?? 0)
      }
      connection.script('DROP TABLE unfinished_move')
      connection.script(`PRAGMA application_id = ${applicationId}`)
    })
    connection.script('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  async clear(): Promise<void> {
    const folder = this.#path.slice(0, this.#path.lastIndexOf('/'))
    this.close()
    for (const end of ['', '-wal', '-shm']) if (existsSync(this.#path + end)) rmSync(this.#path + end)
    this.open(folder)
  }

  get #connection(): Connection {
    if (!this.#opened) throw new Error('The target of the move is closed')
    return this.#opened
  }
}

const upsertNote = 'INSERT OR REPLACE INTO unfinished_move (name, value) VALUES (?, ?)'

const insertHighest = (table: string) =>
  `INSERT INTO sqlite_sequence (name, seq) SELECT ?, max(?, coalesce(max(number), 0)) FROM ${table}`

function inserting(table: MovedTable): (connection: Connection, rows: readonly Row[]) => void {
  const { text, columns } = insertText(table)
  const names = Object.keys(table.columns)
  const places = columns.map((name) => ({ index: names.indexOf(name), type: table.columns[name]! }))
  return (connection, rows) => {
    for (const row of rows) connection.run(text, ...places.map(({ index, type }) => storedValue(type, row[index]!)))
  }
}

/** A transaction for each step would take longer than the step. */
function severalSteps(step: () => boolean): boolean {
  for (let count = 0; count < stepsMax; count += 1) if (!step()) return false
  return true
}

const stepsMax = 100
