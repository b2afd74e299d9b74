import { interruptedJobs, type MovedTable, ownMarks } from '../../move/tables.ts'
import type { Partition } from '../upkeep/partitions.ts'

/** Where PostgreSQL keeps other values than the columns of a moved table name. */
type Form = { where?: string; read?: Readonly<Record<string, string>> }

const forms: Readonly<Record<string, Form>> = {
  chat_turns: { read: { number: 'row_number() OVER (PARTITION BY t.workflow, t.conversation ORDER BY t.number)' } },
  marks: { where: `t.name NOT IN (${ownMarks.map((name) => `'${name}'`).join(', ')})` },
  jobs: { read: interruptedJobs },
  logs: { read: { models: 'array_to_json(t.models)' } },
}

/**
 * Reads the rows of a table in the order of its key; if it has `bySequence`, only those after a sequence. What belonged
 * to the entries of `detached` partitions is about to be deleted, so it does not count.
 */
export function selectText(table: MovedTable, detached: readonly Partition[], after: number): string {
  const { name, columns, key, bySequence } = table
  const read: Form['read'] = name === 'run_files' ? { gone: `(t.gone OR ${inOneOf(detached)})` } : forms[name]?.read
  const expressions = Object.keys(columns).map((column) => `${read?.[column] ?? `t.${column}`} AS ${column}`)
  const conditions = [...conditionsOf(table, detached), ...(bySequence ? [`t.sequence > ${after}`] : [])]
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = key.map((column) => `t.${column}`).join(', ')
  return `SELECT ${expressions.join(', ')} FROM millrace.${name} t${filter} ORDER BY ${order}`
}

export function countText(table: MovedTable, detached: readonly Partition[]): string {
  const conditions = conditionsOf(table, detached)
  const filter = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `SELECT count(*) AS count FROM millrace.${table.name} t${filter}`
}

export function copyInText({ name, columns }: MovedTable): string {
  return `COPY millrace.${name} (${Object.keys(columns).join(', ')}) FROM STDIN`
}

function conditionsOf({ name, columns }: MovedTable, detached: readonly Partition[]): string[] {
  const where = forms[name]?.where
  const conditions = where === undefined ? [] : [where]
  if (!('sequence' in columns) || name === 'logs' || detached.length === 0) return conditions
  // The stored files of such entries are still to be deleted.
  const stays = name === 'run_files' ? ' OR t.folder IS NOT NULL' : ''
  return [...conditions, `(NOT ${inOneOf(detached)}${stays})`]
}

function inOneOf(partitions: readonly Partition[]): string {
  const ranges = partitions.map(({ first, end }) => `t.sequence >= ${first} AND t.sequence < ${end}`)
  return ranges.length === 0 ? 'false' : `(${ranges.join(' OR ')})`
}
