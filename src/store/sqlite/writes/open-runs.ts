import type { OpenRun, OpenRunPage } from '../../../domain/run/job.ts'
import { jobStates, jobTriggers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'
import { fromJobs, type SqlJobFacts, selectFacts } from './jobs.ts'

type Row = SqlJobFacts & { number: number; state: number; trigger: number; workflowName: string }

/** The jobs of a workspace, newest first. Paused ones may be very many, so lists of other jobs do not read them. */
export function listOpenRuns(sql: Sql, { workspaceId, workflowId, states, before, limit }: OpenRunPage): OpenRun[] {
  const others = states.filter((state) => state !== 'paused').map((state) => jobStates.indexOf(state))
  const rows: Row[] = []
  if (others.length > 0) {
    const ofWorkflow = workflowId ?? null
    rows.push(...sql.all<Row>(notPaused, JSON.stringify(others), ofWorkflow, ofWorkflow, workspaceId, before, limit))
  }
  if (states.includes('paused')) {
    if (workflowId === undefined) rows.push(...sql.all<Row>(paused, workspaceId, before, limit))
    else rows.push(...sql.all<Row>(pausedOfWorkflow, workflowId, workspaceId, before, limit))
  }
  return rows
    .toSorted((a, b) => b.number - a.number)
    .slice(0, limit)
    .map(runOf)
}

/** A job, with the facts that lists show. */
export function getOpenRun(sql: Sql, executionId: string): OpenRun | undefined {
  const row = sql.get<Row>(`${select} WHERE j.execution_id = ?`, executionKey(executionId))
  return row && runOf(row)
}

const runOf = (row: Row): OpenRun => ({
  ...row,
  ...{ executionId: executionIdOf(row.executionId), state: jobStates[row.state]!, trigger: jobTriggers[row.trigger]! },
})

const select = `${selectFacts}, j.number, j.state, j.trigger, f.name AS workflowName ${fromJobs}`
const ofWorkspace = 'j.workspace = (SELECT number FROM workspaces WHERE id = ?)'
const ofWorkflow = `j.workflow = (
  SELECT own.number FROM workflows own JOIN workspaces home ON home.number = own.workspace
  WHERE own.id = ? AND home.id = ?)`
const page = 'j.number < ? ORDER BY j.number DESC LIMIT ?'

// Literals instead of parameters: only then does SQLite use the partial indexes.
const notPaused = `${select} WHERE j.state < 3 AND j.state IN (SELECT value FROM json_each(?))
  AND (? IS NULL OR f.id = ?) AND ${ofWorkspace} AND ${page}`
const paused = `${select} WHERE j.state = 3 AND ${ofWorkspace} AND ${page}`
const pausedOfWorkflow = `${select} WHERE j.state = 3 AND ${ofWorkflow} AND ${page}`
