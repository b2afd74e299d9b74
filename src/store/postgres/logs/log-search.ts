import type { LogPosition, LogQuery } from '../../log-query.ts'
import { type Sql, storable, type Value } from '../connection.ts'
import { commitOrderOf } from './commit-order.ts'
import { admits, isInTime, type SqlFilter } from './log-filter.ts'

/**
 * The most rows that one search reads. Beyond them it returns what it has found and where it stopped, so that a filter
 * that admits next to nothing does not occupy the server.
 */
export const rowsReadMax = 20_000

/**
 * The order of reading. Newest first is the order of sequences, and an entry is visible at once.
 *
 * Oldest first is for readers that follow the log, who must miss nothing although transactions commit out of order: an
 * entry with a lower sequence may appear after the reader has passed. So entries are read in the order of the
 * transactions that wrote them, and only those of transactions older than all that are still open. No entry can appear
 * before these any more. (A transaction that stays open for long delays these readers, also one of another database of
 * the server.)
 */
const orders = {
  asc: {
    keys: 'l.commit_order, l.sequence',
    follows: `(l.commit_order, l.sequence) > ($20::text::bigint, $21::bigint)
      AND l.commit_order < ${commitOrderOf('pg_snapshot_xmin(pg_current_snapshot())')}`,
  },
  desc: { keys: 'l.sequence DESC', follows: '$20::text IS NOT NULL AND l.sequence < $21::bigint' },
}

/** Where rows are read: each has an index. A workflow's rows have no index in the order of transactions. */
const sources = {
  workspace: '$22::text IS NULL AND l.workspace = (SELECT w.number FROM millrace.workspaces w WHERE w.id = $1)',
  // A statement has to use all its values.
  workflow: '$1::text IS NOT NULL AND l.workflow = $22::integer',
  execution:
    'l.execution_id = $22::text AND l.workspace = (SELECT w.number FROM millrace.workspaces w WHERE w.id = $1)',
}

export type Source = { kind: keyof typeof sources; values: readonly Value[] }

/** The smallest set of rows that contains all that the query wants. */
export function sourceOf({ order, filter }: Pick<LogQuery, 'order' | 'filter'>, { workflow }: SqlFilter): Source {
  if (filter.executionId !== undefined) return { kind: 'execution', values: [storable(filter.executionId)] }
  if (order === 'desc' && workflow !== undefined) return { kind: 'workflow', values: [workflow] }
  return { kind: 'workspace', values: [null] }
}

/**
 * Reads rows after a position, with some that the filter does not admit: `admitted` tells. Its values: `$1` to `$19` of
 * the filter, `$20` and `$21` of the position, `$22` of the source. `entry` counts the rows, and the last one that was
 * read is always returned, as `isEnd`. A `LIMIT` around it ends the reading.
 */
export function scanText(order: LogQuery['order'], source: Source['kind'], rowsMax = rowsReadMax): string {
  const { keys, follows } = orders[order]
  return `
    SELECT * FROM (
      SELECT l.*, (${admits}) IS TRUE AS admitted, row_number() OVER scan AS entry,
        lead(l.sequence) OVER scan IS NULL AS "isEnd"
      FROM (
        SELECT * FROM millrace.logs l
        WHERE ${sources[source]} AND ${isInTime} AND ${follows}
        ORDER BY ${keys} LIMIT ${rowsMax}
      ) l
      WINDOW scan AS (ORDER BY ${keys})
    ) l
    WHERE l.admitted OR l."isEnd" ORDER BY ${keys}`
}

/** The keys by which rows of an order are sorted. */
export const keysOf = (order: LogQuery['order']) => orders[order].keys

/** `$20` and `$21` for rows after a position; from the beginning without one. */
export async function positionValues(
  sql: Sql,
  { workspaceId, order, after }: Pick<LogQuery, 'workspaceId' | 'order' | 'after'>,
): Promise<[string, number]> {
  const sequence = after?.at(-1)
  if (sequence === undefined) return ['0', order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER]
  if (order === 'desc') return ['0', sequence]
  const commitOrder = after!.length === 2 ? after![0]! : await commitOrderAt(sql, workspaceId, sequence)
  return [String(commitOrder), sequence]
}

/**
 * The transaction of an entry of which a position of SQLite names only the sequence: there, the order of sequences is
 * the order of commits, and the entries were copied in that order.
 */
async function commitOrderAt(sql: Sql, workspaceId: string, sequence: number): Promise<number> {
  const row = await sql.get<{ commitOrder: number }>(
    `SELECT l.commit_order AS "commitOrder" FROM millrace.logs l
     WHERE l.workspace = (SELECT w.number FROM millrace.workspaces w WHERE w.id = $1) AND l.sequence <= $2::bigint
     ORDER BY l.sequence DESC LIMIT 1`,
    workspaceId,
    sequence,
  )
  return row?.commitOrder ?? 0
}

/** The position of a row in an order. */
export function positionOf(
  order: LogQuery['order'],
  { commitOrder, sequence }: { commitOrder: number; sequence: number },
): LogPosition {
  return order === 'asc' ? [commitOrder, sequence] : [sequence]
}
