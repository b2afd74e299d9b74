import { type PauseCount, type PauseCountQuery, pauseKinds } from '../../../domain/run/pause.ts'
import type { Sql } from '../connection.ts'

/** How many pauses are open in a workspace, or at each block of one of its workflows. */
export function countPausesByBlock(sql: Sql, { workspaceId, workflowId, max }: PauseCountQuery): PauseCount[] {
  // A query for each kind, because the indexes have the kind before the number.
  return pauseKinds.flatMap((kind, index) => {
    const rows =
      workflowId === undefined
        ? sql.all<Row>(ofWorkspace, workspaceId, index, max)
        : sql.all<Row>(ofWorkflow, workflowId, workspaceId, index, max)
    return rows.map((row) => ({ ...row, kind }))
  })
}

type Row = Omit<PauseCount, 'kind'>

const ofWorkspace = `
  SELECT NULL AS blockId, count(*) AS count FROM (
    SELECT p.number FROM pauses p
    WHERE p.workspace = (SELECT number FROM workspaces WHERE id = ?) AND p.kind = ? AND p.state = 0
    ORDER BY p.number LIMIT ?
  ) HAVING count(*) > 0`

// The block is the second part of the place: see `outerBlockOf`.
const ofWorkflow = `
  SELECT substr(rest, 1, instr(rest, '/') - 1) AS blockId, count(*) AS count FROM (
    SELECT substr(p.place, instr(p.place, '/') + 1) AS rest FROM pauses p
    WHERE p.workflow = (
        SELECT own.number FROM workflows own JOIN workspaces home ON home.number = own.workspace
        WHERE own.id = ? AND home.id = ?)
      AND p.kind = ? AND p.state = 0
    ORDER BY p.number LIMIT ?
  ) GROUP BY blockId ORDER BY blockId`
