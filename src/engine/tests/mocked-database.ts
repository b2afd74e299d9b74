import { DatabaseError } from '../../domain/database/database.ts'
import type { SqlMode, SqlResult } from '../../domain/database/sql.ts'
import { isObject } from '../../domain/run/input.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'

type Response = NonNullable<NonNullable<WorkflowTest['mocks']>[number]['response']>

/**
 * The result of a mocked statement. `data` is the list of rows, the number of changed rows, or an object with `rows`,
 * `count` and `columns`, as the outputs of a `sql` block are. Throws `DatabaseError` for a status of an error.
 */
export function sqlResult(response: Response, mode: SqlMode, maxRows: number): SqlResult {
  const data = databaseData(response)
  const given = Array.isArray(data) ? { rows: data } : typeof data === 'number' ? { count: data } : data
  if (!isObject(given)) {
    throw new DatabaseError('INVALID_REQUEST', 'The mock of a statement must have "data": a list of rows, or a count.')
  }
  const max = mode === 'one' ? 1 : maxRows
  const all = (Array.isArray(given['rows']) ? (given['rows'] as unknown[]) : []).filter(isObject)
  const rows = all.slice(0, max)
  const { count } = given
  return {
    rows,
    columns: Object.keys(rows[0] ?? {}).map((name) => ({ name, type: 'text' })),
    count: typeof count === 'number' ? count : rows.length,
    hasMore: all.length > max,
  }
}

/** `data` of a mock. Throws `DatabaseError` for a status of an error, with the text in `data`. */
export function databaseData({ status, data }: Response): unknown {
  if (status < 400) return data ?? null
  throw new DatabaseError('SQL_ERROR', typeof data === 'string' ? data : `The mock responded with ${status}.`)
}
