import { DatabaseError } from '../../domain/database/database.ts'
import type { SqlRequest, SqlResult } from '../../domain/database/sql.ts'
import type { SqlConnection, StatementBounds, StatementResult } from './connection.ts'
import { type Position, placed } from './position.ts'
import type { Statement } from './statements.ts'

/** Runs the statements of a request on a connection. Rejects with a `DatabaseError` that names the statement. */
export async function runStatements(
  connection: SqlConnection,
  statements: readonly Statement[],
  { mode, maxRows, isReadOnly = false }: Pick<SqlRequest, 'mode' | 'maxRows' | 'isReadOnly'>,
  bounds: Omit<StatementBounds, 'maxRows'>,
): Promise<SqlResult> {
  const kept = mode === 'execute' ? undefined : mode === 'one' ? 1 : maxRows
  const each = { ...bounds, maxRows: kept }
  if (mode !== 'transaction' && !isReadOnly) {
    return resultOf([await named(connection, statements[0]!, each, statements.length)])
  }
  await connection.begin(isReadOnly)
  try {
    const results: StatementResult[] = []
    for (const statement of statements) results.push(await named(connection, statement, each, statements.length))
    await connection.commit()
    return resultOf(results)
  } catch (error) {
    // On a lost connection, the server rolls back by itself.
    await connection.rollback().catch(() => connection.close())
    throw error
  }
}

async function named(connection: SqlConnection, statement: Statement, bounds: StatementBounds, total: number) {
  try {
    return await connection.run(statement, bounds)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== 'SQL_ERROR') throw error
    const message = placed(error.message, statement, total, error.facts['position'] as Position | undefined)
    throw new DatabaseError(error.code, message, { ...error.facts, statement: statement.number }, error.cause)
  }
}

/** The rows are those of the last statement that has columns. The changes of all statements count. */
function resultOf(results: readonly StatementResult[]): SqlResult {
  const { rows, columns, hasMore } = results.findLast((each) => each.columns.length > 0) ?? results.at(-1)!
  const changed = results.flatMap((each) => each.changed ?? [])
  const count = changed.length === 0 ? rows.length : changed.reduce((sum, each) => sum + each, 0)
  return { rows, columns, count, hasMore }
}
