import { Database, SQLiteError, type SQLQueryBindings } from 'bun:sqlite'
import { messageOf } from '../../domain/errors.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import { floatOf, rowOf } from '../sql/values.ts'
import type { SqliteReply, SqliteRequest, SqliteResult } from './messages.ts'

/**
 * Serves one SQLite file in a process of its own, until its input ends. SQLite cannot be stopped in the middle of a
 * statement, so the service kills this process when the time is up. The file survives that, like a power failure.
 */
export async function serveSqlite(): Promise<void> {
  let database: Database | undefined
  for await (const line of console) {
    const reply = answer(JSON.parse(line) as SqliteRequest, database, (opened) => {
      database = opened
    })
    await Bun.write(Bun.stdout, `${JSON.stringify(reply)}\n`)
  }
}

function answer(
  request: SqliteRequest,
  database: Database | undefined,
  opened: (database: Database) => void,
): SqliteReply {
  try {
    if (request.type === 'open') {
      opened(open(request.path))
      return { ok: true }
    }
    if (!database) throw new Error('No file is open')
    if (request.type === 'run') return run(database, request)
    if (request.type === 'begin') {
      database.run(`PRAGMA query_only = ${request.isReadOnly ? 'ON' : 'OFF'}`)
      database.run(request.isReadOnly ? 'BEGIN' : 'BEGIN IMMEDIATE')
    } else {
      database.run(request.type === 'commit' ? 'COMMIT' : 'ROLLBACK')
      database.run('PRAGMA query_only = OFF')
    }
    return { ok: true }
  } catch (error) {
    const facts = error instanceof SQLiteError ? { code: error.code ?? 'SQLITE_ERROR', offset: error.byteOffset } : {}
    return { ok: false, message: messageOf(error), ...facts }
  }
}

function open(path: string): Database {
  const database = new Database(path, { readwrite: true, create: true, safeIntegers: true, strict: true })
  // The service watches the memory of this process, and no disk is filled by sorting.
  database.run('PRAGMA temp_store = MEMORY')
  database.run('PRAGMA busy_timeout = 600000')
  database.run('PRAGMA foreign_keys = ON')
  database.run('PRAGMA trusted_schema = OFF')
  // Fails now, and not at the first statement, if the file is not a database.
  database.query('SELECT count(*) FROM sqlite_schema').get()
  return database
}

function run(database: Database, request: SqliteRequest & { type: 'run' }): SqliteReply {
  const { text, values, maxRows, bytesMax, valuesMax } = request
  const before = totalChanges(database)
  using statement = database.prepare(text)
  const names = statement.columnNames
  const rows: Record<string, unknown>[] = []
  let bytes = 0
  let hasMore = false
  let columns = names.map((name) => ({ name, type: '' }))
  if (names.length === 0) statement.run(...values.map(bound))
  else {
    for (const found of statement.iterate(...values.map(bound)) as Iterable<Record<string, unknown>>) {
      if (maxRows === undefined) continue
      if (rows.length === maxRows) {
        hasMore = true
        break
      }
      const row = rowOf(
        columns,
        names.map((name) => jsonValueOf(found[name])),
      )
      bytes += estimateSize(row)
      if (bytes > bytesMax) return { ok: false, message: 'The rows are too large', excess: 'bytes' }
      rows.push(row)
      if (rows.length * names.length > valuesMax) {
        return { ok: false, message: 'The rows have too many values', excess: 'values' }
      }
    }
    columns = withTypes(names, () => statement.declaredTypes)
  }
  const after = totalChanges(database)
  const result: SqliteResult = {
    columns,
    rows,
    changed: after === before && isReading(text) ? null : after - before,
    hasMore,
  }
  return { ok: true, result }
}

/** A statement that changes rows may change none. */
const isReading = (text: string) => !/\b(?:INSERT|UPDATE|DELETE|REPLACE)\b/i.test(text)

function totalChanges(database: Database): number {
  const row = database.query('SELECT total_changes() AS n').get() as { n: bigint }
  return Number(row.n)
}

function withTypes(names: readonly string[], declared: () => readonly (string | null)[]) {
  let types: readonly (string | null)[] = []
  try {
    types = declared()
  } catch {
    // Only some statements have them.
  }
  return names.map((name, index) => ({ name, type: types[index]?.toLowerCase() ?? '' }))
}

function bound(value: unknown): SQLQueryBindings {
  if (value === null || value === undefined) return null
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'boolean') return value ? 1n : 0n
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function jsonValueOf(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (typeof value === 'number') return floatOf(String(value))
  return value instanceof Uint8Array ? value.toBase64() : value
}
