import { type PauseCount, type PauseCountQuery, pauseKinds } from '../../../domain/run/pause.ts'
import { listOf, type Sql, storable } from '../connection.ts'

/** How many pauses are open in a workspace, or at each block of one of its workflows. */
export async function countPausesByBlock(
  sql: Sql,
  { workspaceId, workflowId, max }: PauseCountQuery,
): Promise<PauseCount[]> {
  const kinds = listOf(pauseKinds.map((_, index) => index))
  const ids = workflowId === undefined ? [workspaceId] : [workspaceId, workflowId]
  const text = workflowId === undefined ? countsOfWorkspace : countsOfWorkflow
  const rows = await sql.all<Row>(text, kinds, max, ...ids.map(storable))
  return rows.map(({ blockId, kind, count }) => ({ blockId, kind: pauseKinds[kind]!, count }))
}

type Row = { blockId: string | null; kind: number; count: number }

// A search for each kind, because the indexes have the kind before the number. The block is the second part of the
// place: see `outerBlockOf`.
const countsOf = (block: string, scope: string) => `
  SELECT found.block AS "blockId", wanted.kind AS kind, count(*)::int AS count
  FROM unnest($1::smallint[]) AS wanted (kind) CROSS JOIN LATERAL (
    SELECT ${block} AS block FROM millrace.pauses
    WHERE ${scope} AND kind = wanted.kind AND state = 0 ORDER BY number LIMIT $2
  ) AS found
  GROUP BY wanted.kind, found.block ORDER BY wanted.kind, found.block`

const countsOfWorkspace = countsOf('NULL::text', 'workspace = (SELECT number FROM millrace.workspaces WHERE id = $3)')
const countsOfWorkflow = countsOf(
  "split_part(place, '/', 2)",
  `workflow = (
    SELECT own.number FROM millrace.workflows own JOIN millrace.workspaces home ON home.number = own.workspace
    WHERE own.id = $4 AND home.id = $3)`,
)
