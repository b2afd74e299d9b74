import { isObject } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import { renamed } from '../core/branches.ts'
import type { BlockToMap, Mapping, Placeholder } from '../mapping.ts'
import { parseJson, type SimValues } from '../sim-values.ts'
import { bindReferences, type Dialect, referenceNames } from './bind-references.ts'
import { connectionOf } from './connection.ts'

export function mapPostgres(input: BlockToMap): Mapping {
  return mapSql(input, 'postgres')
}

export function mapMysql(input: BlockToMap): Mapping {
  return mapSql(input, 'mysql')
}

type Query = { query: string; params: unknown[]; mode: 'rows' | 'transaction' }
type Made = Query | Placeholder

/** A block with the server and its password becomes one that names a credential and binds its values. */
function mapSql({ values, document }: BlockToMap, dialect: Dialect): Mapping {
  const names = referenceNames(document.blocks.values())
  const made = queryOf(values, { dialect, names })
  if ('needs' in made) return made
  const { query, params, mode } = made
  const kept: Record<string, unknown> = {}
  for (const id of ['operation', 'query', 'table', 'data', 'where']) {
    const value = values.take(id)
    if (value !== undefined && value !== '' && value !== query) kept[id] = value
  }
  // Only the description of a database needs it, and Sim writes it into every block.
  values.drop('schema')
  const label = dialect === 'postgres' ? 'PostgreSQL' : 'MySQL'
  const { credential, note } = connectionOf(values, dialect === 'postgres' ? 'postgresql' : 'mysql', label)
  return {
    type: 'sql',
    params: { credential: credential.name, query, ...(params.length > 0 ? { params } : {}), mode, maxRows: 100_000 },
    credentials: [credential],
    output: (path) => renamed(path, { rowCount: 'count', message: undefined, tables: undefined, schemas: undefined }),
    notes: [
      note,
      ...(query === '' ? ['The file has no query for this block. Enter one.'] : []),
      ...(params.length > 0 ? ['Sim pasted values into the query. Here, the block binds them as parameters.'] : []),
    ],
    kept,
  }
}

type Making = { dialect: Dialect; names: ReadonlySet<string> }

function queryOf(values: SimValues, making: Making): Made {
  const operation = textOf(values.peek('operation')) || 'query'
  switch (operation) {
    case 'query':
    case 'execute':
      return written(textOf(values.peek('query')), making)
    case 'insert':
    case 'update':
    case 'delete':
      return built(operation, values, making)
    case 'introspect':
      return { needs: 'an SQL block that reads information_schema, because no operation here describes a database' }
    default:
      return { needs: `an SQL block with a statement for the operation "${operation.slice(0, 100)}"` }
  }
}

function written(text: string, making: Making): Made {
  if (text.length > queryMax) return { needs: `an SQL block with a query of at most ${queryMax} characters` }
  const bound = bindReferences(text, making)
  if ('refused' in bound) return { needs: refusal(bound.refused) }
  return { query: bound.sql, params: bound.params, mode: bound.statements > 1 ? 'transaction' : 'rows' }
}

/** A statement from the name of a table, an object with a value for each column, and a condition. */
function built(operation: 'insert' | 'update' | 'delete', values: SimValues, making: Making): Made {
  const table = nameOf(textOf(values.peek('table')), making.dialect)
  if (table === undefined) return { needs: `an SQL block with ${articles[operation]} statement for a fixed table` }
  const given = values.peek('data')
  const data = typeof given === 'string' ? parseJson(given) : given
  const columns = operation === 'delete' ? [] : isObject(data) ? Object.keys(data) : undefined
  const columnNames = columns?.map((column) => nameOf(column, making.dialect))
  const isFixed = columnNames?.every((name) => name !== undefined)
  if (!isFixed || (operation !== 'delete' && columnNames.length === 0) || columnNames.length > columnsMax) {
    return { needs: `an SQL block with ${articles[operation]} statement: the columns must be known before the run` }
  }
  const params: unknown[] = isObject(data) && columns ? columns.map((column) => data[column]) : []
  const place = (index: number) => (making.dialect === 'postgres' ? `$${index + 1}` : '?')
  // Sim returns the rows that a statement has changed.
  const returning = making.dialect === 'postgres' ? ' RETURNING *' : ''
  if (operation === 'insert') {
    const places = params.map((_, index) => place(index)).join(', ')
    const query = `INSERT INTO ${table} (${columnNames.join(', ')}) VALUES (${places})${returning}`
    return { query, params, mode: 'rows' }
  }
  const where = textOf(values.peek('where'))
  if (where.trim() === '') return { needs: `an SQL block with ${articles[operation]} statement and a WHERE condition` }
  const bound = bindReferences(where, { ...making, before: params.length, after: operation.toUpperCase() })
  if ('refused' in bound) return { needs: refusal(bound.refused) }
  if (/;|--|\/\*|#/.test(where) || where.length > queryMax / 2) {
    return {
      needs: `an SQL block with ${articles[operation]} statement: the condition is too long, or has a comment or semicolon`,
    }
  }
  const set = columnNames.map((name, index) => `${name} = ${place(index)}`).join(', ')
  const start = operation === 'update' ? `UPDATE ${table} SET ${set}` : `DELETE FROM ${table}`
  return { query: `${start} WHERE ${bound.sql}${returning}`, params: [...params, ...bound.params], mode: 'rows' }
}

function refusal(source: string): string {
  return (
    `an SQL block with a query in which ${source.slice(0, 200)} is a value: a reference cannot be a name, a list or ` +
    'a part of the query'
  )
}

/** A name of letters, digits and underscores, perhaps with the name of a schema. Undefined for anything else. */
function nameOf(text: string, dialect: Dialect): string | undefined {
  const quote = dialect === 'postgres' ? '"' : '`'
  const parts = text.trim().replaceAll(quote, '').split('.')
  if (!parts.every((part) => /^[A-Za-z_]\w{0,62}$/.test(part))) return undefined
  return parts.map((part) => quote + part + quote).join('.')
}

const articles = { insert: 'an INSERT', update: 'an UPDATE', delete: 'a DELETE' }
const queryMax = 100_000
/** PostgreSQL and MySQL allow no table with more. */
const columnsMax = 1_600
