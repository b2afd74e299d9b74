import type { Cell, ColumnType, MovedTable } from '../../move/tables.ts'
import { interruptedJobs, ownMarks } from '../../move/tables.ts'
import type { Value } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'
import { fanOutRecordsAsRows } from '../writes/fan-out-records.ts'

/** Where SQLite keeps the rows of a table in another way than by its name and the names of its columns. */
type Form = {
  /** In place of the table. */
  from?: readonly string[]
  where?: string
  /** Expressions in place of columns of the table `t`. */
  read?: Readonly<Record<string, string>>
  /** Columns in place of the names; null: SQLite computes the value. */
  write?: Readonly<Record<string, string | null>>
}

const rowid = { read: { number: 't.rowid' }, write: { number: 'rowid' } }

const forms: Readonly<Record<string, Form>> = {
  users: rowid,
  deployments: rowid,
  drafts: rowid,
  workflows: { write: { folder: null } },
  chat_turns: {
    read: {
      number: `(SELECT count(*) FROM chat_turns o
        WHERE o.workflow = t.workflow AND o.conversation = t.conversation AND o.number <= t.number)`,
    },
  },
  jobs: { read: interruptedJobs },
  marks: { where: `t.name NOT IN (${ownMarks.map((name) => `'${name}'`).join(', ')})` },
  deliveries: { from: ['deliveries', fanOutRecordsAsRows] },
  job_outputs: {
    where: 'EXISTS (SELECT 1 FROM logs l WHERE l.execution_id = t.execution_id)',
    read: { sequence: '(SELECT l.sequence FROM logs l WHERE l.execution_id = t.execution_id)' },
    write: { sequence: null },
  },
}

/** Reads the rows of a table in the order of its key. If it has `bySequence`, `?1` is the sequence to start after. */
export function selectText({ name, columns, key, bySequence }: MovedTable): string {
  const { read = {} } = forms[name] ?? {}
  const expressions = Object.keys(columns).map((column) => `${read[column] ?? `t.${column}`} AS ${column}`)
  const after = bySequence ? ['t.sequence > ?1'] : []
  return `${selectFrom(name, expressions.join(', '), after)} ORDER BY ${key.join(', ')}`
}

export function countText({ name }: MovedTable): string {
  return `SELECT sum(count) AS count FROM (${selectFrom(name, 'count(*) AS count')})`
}

function selectFrom(name: string, expressions: string, conditions: readonly string[] = []): string {
  const { from = [name], where } = forms[name] ?? {}
  const all = where === undefined ? conditions : [...conditions, where]
  const filter = all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`
  return from.map((each) => `SELECT ${expressions} FROM ${each} t${filter}`).join(' UNION ALL ')
}

/** Inserts one row. `columns`: those whose cells are its values. */
export function insertText({ name, columns }: MovedTable): { text: string; columns: readonly string[] } {
  const write = forms[name]?.write ?? {}
  const written = Object.keys(columns).filter((column) => write[column] !== null)
  const names = written.map((column) => write[column] ?? column)
  const places = written.map(() => '?').join(', ')
  return { text: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${places})`, columns: written }
}

export function cellOf(type: ColumnType, value: Value): Cell {
  if (value === null) return null
  if (type === 'boolean') return value === 1
  return type === 'execution' ? executionIdOf(value as string | Uint8Array) : value
}

export function storedValue(type: ColumnType, cell: Cell): Value {
  if (typeof cell === 'boolean') return cell ? 1 : 0
  return type === 'execution' && cell !== null ? executionKey(String(cell)) : cell
}
