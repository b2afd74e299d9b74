import type { ModelTool } from '../../domain/run/model-call.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { toolName } from '../agent-tool-parameters.ts'
import { databaseErrorOf } from '../sql.ts'

/** A database as the tool of a model, which can only read. The author sets the credential. */
export type SqlTool = { type: 'sql'; name?: string; description?: string; credential: string; maxRows?: number }

export function describeSql(tool: SqlTool): ModelTool {
  const { description = 'Reads rows of a database with SQL.' } = tool
  return { name: toolName(tool), description, parameters }
}

/** Runs a statement that reads. The model receives the rows. Throws `BlockError`. */
export async function callSql(tool: SqlTool, args: Record<string, unknown>, context: BlockContext) {
  const invalid = await context.models.checkJson(parameters, args)
  if (invalid) throw new BlockError('INVALID_ARGUMENTS', `The arguments do not fit the tool: ${invalid}`)
  const { credential, maxRows = maxRowsDefault } = tool
  const { query, params = [] } = args as { query: string; params?: unknown[] }
  try {
    const { rows, hasMore } = await context.sql({
      ...{ credential, query, params, mode: 'rows', maxRows, timeoutMs },
      isReadOnly: true,
    })
    return { rows, hasMore }
  } catch (thrown) {
    const { code, message } = databaseErrorOf(thrown)
    throw new BlockError(code, message, thrown)
  }
}

const maxRowsDefault = 100
const timeoutMs = 30_000

const parameters = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 100_000, description: 'One SQL statement that only reads.' },
    params: {
      ...{ type: 'array', items: {}, maxItems: 10_000 },
      description:
        'Values for the placeholders of the query: $1, $2 in PostgreSQL, and ? in MySQL, MariaDB and SQLite.',
    },
  },
  required: ['query'],
  additionalProperties: false,
}
