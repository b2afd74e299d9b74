import { type Static, Type as t } from '@sinclair/typebox'
import { DatabaseError } from '../domain/database/database.ts'
import { sqlModes } from '../domain/database/sql.ts'
import { oneOf } from '../domain/one-of.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import { parseTemplate } from '../domain/workflow/reference.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock, type ParameterFinding } from '../engine/block.ts'

const Parameters = t.Object({
  credential: t.String({
    minLength: 1,
    title: 'Credential',
    description: 'The name of a credential of the workspace for the database (kind: SQL database).',
  }),
  query: t.String({
    minLength: 1,
    maxLength: 100_000,
    title: 'Query',
    description: 'SQL. It cannot contain references: write $1, $2 (PostgreSQL) or ? and set the values below.',
  }),
  params: t.Optional(
    t.Array(t.Unknown(), {
      maxItems: 10_000,
      title: 'Parameters',
      description: 'The values for $1, $2 or ?, in order. The database receives them apart from the query.',
    }),
  ),
  mode: oneOf([...sqlModes], {
    labels: {
      rows: 'Read rows',
      one: 'Read one row',
      execute: 'Change rows',
      transaction: 'Several statements, all or nothing',
    },
    default: 'rows',
    title: 'Mode',
  }),
  maxRows: t.Integer({
    default: 1_000,
    minimum: 1,
    maximum: 100_000,
    title: 'Most rows',
    description: 'Further rows are not read.',
  }),
  timeoutMs: t.Integer({
    default: 30_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Time limit in milliseconds. When it ends, the database is asked to stop the statement.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/** Runs SQL. The query is a constant, and values are bound, so that no value can change what the query does. */
export const sql = defineBlock({
  type: 'sql',
  label: 'SQL',
  description: 'Reads or changes rows in PostgreSQL, MySQL, MariaDB or SQLite.',
  kind: 'step',
  parameters: Parameters,
  modes: { query: 'literal', credential: 'literal' },
  outputs: ['rows', 'row', 'count', 'columns', 'hasMore', 'error'],
  mayFail: true,
  check: ({ query }) => (typeof query === 'string' ? queryFindings(query) : []),
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const { credential, query, mode, maxRows, timeoutMs } = params
  try {
    const request = { credential, query, params: params.params ?? [], mode, maxRows, timeoutMs }
    const { rows, count, columns, hasMore } = await context.sql(request)
    return { outputs: { rows, row: rows[0] ?? null, count, columns, hasMore, error: null } }
  } catch (thrown) {
    const error = databaseErrorOf(thrown)
    return { outputs: { rows: null, row: null, count: null, columns: null, hasMore: null, error }, error }
  }
}

/** The error of a block that asked a database. Throws everything else again. */
export function databaseErrorOf(thrown: unknown) {
  if (thrown instanceof DatabaseError) return { ...thrown.facts, code: thrown.code, message: thrown.message }
  if (thrown instanceof OutboundError || thrown instanceof BlockError) {
    return { code: thrown.code, message: thrown.message }
  }
  throw thrown
}

/** A reference in a query would be pasted into it, and its value could change what the query does. */
function queryFindings(query: string): ParameterFinding[] {
  const pasted = parseTemplate(query).find(({ kind }) => kind !== 'text')
  const nul = query.includes('\0')
  if (nul) return [finding('INVALID_QUERY', 'The query contains a NUL character. Remove it.')]
  if (!pasted || pasted.kind === 'text') return []
  const message =
    `A query cannot contain ${pasted.source}, because its value could change the query. ` +
    `Put ${pasted.source} in "params", and write $1 (PostgreSQL) or ? (MySQL, SQLite) in its place, without quotes.`
  return [finding('REFERENCE_IN_QUERY', message)]
}

function finding(code: string, message: string): ParameterFinding {
  return { level: 'error', code, path: 'query', message }
}
