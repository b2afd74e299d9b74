import type { Refusal } from '../../../domain/run/claim.ts'
import type { JobFacts } from '../../../domain/run/job.ts'
import {
  type DuePauses,
  type EndedPause,
  endedPauseMs,
  type ListedPause,
  type PauseEnd,
  type PausePage,
  type PauseWrite,
  pauseKinds,
  pauseStates,
  remindersMax,
  type StoredPause,
} from '../../../domain/run/pause.ts'
import { eventNumber } from '../../alerts/alert-batch.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { insertJobs, insertSteps, interruptedJobs, type Placed } from './jobs.ts'

/**
 * Pauses running jobs, and gives up their claims, so that every process may continue them. If one of a job's pauses
 * has already ended, the job is interrupted instead, and stays claimed. Refuses the jobs of other processes.
 */
export async function pauseJobs(sql: Sql, writes: readonly Placed<PauseWrite>[]): Promise<Refusal[]> {
  if (writes.length === 0) return []
  const accepted = writes.flatMap(({ write: { accepts } }) => (accepts ? [accepts] : []))
  await insertJobs(
    sql,
    accepted.map(({ row }) => row),
  )
  await insertSteps(
    sql,
    accepted.flatMap(({ row: { executionId }, steps }) =>
      steps.map((content, at) => ({
        index: 0,
        write: { kind: 'job-step' as const, executionId, number: at + 1, content },
      })),
    ),
  )
  const pauses = writes.flatMap(({ write: { executionId, pauses: own } }) =>
    own.map((pause) => ({
      ...{ ...pause, executionId, kind: pauseKinds.indexOf(pause.kind) },
      ...{ place: storable(pause.place), blockId: storable(pause.blockId), blockName: storable(pause.blockName) },
    })),
  )
  await sql.run(insertPauses, rowsOf(pauses))
  await sql.all(
    'SELECT number FROM millrace.jobs WHERE execution_id = ANY($1::text[]) ORDER BY number FOR UPDATE',
    listOf(writes.map(({ write }) => write.executionId)),
  )
  await sql.run(insertPauses, rowsOf(pauses))
  const newest = Math.max(...pauses.map(({ since }) => since))
  if (pauses.length > 0) await sql.run(deleteOld, newest - endedPauseMs, 2 * pauses.length)
  const moves = writes.map(({ write: { executionId, at, goesOn = false } }) => ({ executionId, at, goesOn }))
  const own = pauses.map(({ executionId, contextId, reminders = 0 }) => ({ executionId, contextId, reminders }))
  const paused = await sql.all<{ executionId: string }>(moveToPaused, rowsOf(moves), sql.owner, rowsOf(own))
  const ids = new Set(paused.map(({ executionId }) => executionId))
  return writes.flatMap(({ index, write }) => (ids.has(write.executionId) ? [] : [{ index, executionId: null }]))
}

// Each new pause deletes up to two old ones, so that no other cleanup is needed.
const deleteOld = `
  DELETE FROM millrace.pauses WHERE number IN (
    SELECT number FROM millrace.pauses WHERE state > 0 AND ended_at <= $1::bigint
    ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED
  )`

const insertPauses = `
  WITH begun AS (
  INSERT INTO millrace.pauses
    (context_id, execution_id, workspace, workflow, place, block_id, block_name, kind, since, until, content,
      remind_every, remind_at)
  SELECT r."contextId", r."executionId", j.workspace, j.workflow, r.place, r."blockId", r."blockName", r.kind,
    r.since, r.until, decode(r.content, 'base64'), r."remindEveryMs", r.since + r."remindEveryMs"
  FROM json_to_recordset($1::text::json) AS r ("contextId" text, "executionId" text, place text, "blockId" text,
      "blockName" text, kind smallint, since bigint, until bigint, content text, "remindEveryMs" bigint)
    JOIN millrace.jobs j ON j.execution_id = r."executionId"
  ON CONFLICT (context_id) DO NOTHING
  RETURNING execution_id, workspace, workflow, kind, since
  )
  INSERT INTO millrace.workspace_events (type, workflow, execution_id, at, workspace)
  SELECT e.type, b.workflow, b.execution_id, min(b.since), b.workspace
  FROM begun b JOIN millrace.alert_cursors c ON c.workspace = b.workspace
    CROSS JOIN LATERAL (VALUES (${eventNumber('run.paused')}, 0), (${eventNumber('approval.waiting')}, 1)) AS e (type, asks)
  WHERE e.asks = 0 OR b.kind = ${pauseKinds.indexOf('approval')}
  GROUP BY e.type, b.workflow, b.execution_id, b.workspace`

// A call that ends a pause locks its job first, as this one does. So either this one finds that the pause has ended, or
// the other one finds that the job is paused. A run that has reached a pause was not the cause of the crashes before.
const moveToPaused = `
  WITH moved AS (
    SELECT j.number, r.at, r."goesOn", EXISTS (
      SELECT 1 FROM json_to_recordset($3::text::json) AS o ("executionId" text, "contextId" text, reminders integer)
        JOIN millrace.pauses p ON p.context_id = o."contextId"
      WHERE o."executionId" = r."executionId" AND (p.state > 0 OR p.reminders > o.reminders)
    ) AS has_ended
    FROM json_to_recordset($1::text::json) AS r ("executionId" text, at bigint, "goesOn" boolean)
      JOIN millrace.jobs j ON j.execution_id = r."executionId"
    WHERE j.state = 1 AND j.owner = $2
  )
  UPDATE millrace.jobs j SET pauses = 1, cuts = CASE WHEN moved."goesOn" THEN j.cuts ELSE 0 END,
    waiting_since = CASE WHEN moved."goesOn" THEN j.waiting_since ELSE moved.at END,
    state = CASE WHEN moved."goesOn" THEN j.state WHEN moved.has_ended THEN 2 ELSE 3 END,
    owner = CASE WHEN moved."goesOn" OR moved.has_ended THEN j.owner ELSE 0 END
  FROM moved WHERE j.number = moved.number
  RETURNING j.execution_id AS "executionId"`

export async function listRunPauses(sql: Sql, executionId: string): Promise<StoredPause[]> {
  const rows = await sql.all<SqlPause>(`${select} WHERE p.execution_id = $1 ORDER BY p.number`, storable(executionId))
  return rows.map(pauseOf)
}

export async function listOpenPauses(sql: Sql, executionId: string, limit: number): Promise<StoredPause[]> {
  const text = `${select} WHERE p.execution_id = $1 AND p.state = 0 ORDER BY p.number LIMIT $2`
  return (await sql.all<SqlPause>(text, storable(executionId), limit)).map(pauseOf)
}

export async function listPauses(
  sql: Sql,
  { workspaceId, workflowId, kind, after, limit }: PausePage,
): Promise<ListedPause[]> {
  const kinds = kind === undefined ? pauseKinds : [kind]
  const ids = workflowId === undefined ? [workspaceId] : [workspaceId, workflowId]
  const rows = await sql.all<SqlPause>(
    workflowId === undefined ? listOfWorkspace : listOfWorkflow,
    ...[listOf(kinds.map((each) => pauseKinds.indexOf(each))), after, limit, ...ids.map(storable)],
  )
  return rows.map((row) => ({ ...pauseOf(row), number: row.number, workflowName: row.workflowName }))
}

export async function countPauses(sql: Sql, workspaceId: string, limit: number): Promise<number> {
  const row = await sql.get<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT FROM millrace.pauses
       WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND state = 0 LIMIT $2
     ) AS found`,
    ...[storable(workspaceId), limit],
  )
  return row?.count ?? 0
}

export async function listDeletedWithPauses(
  sql: Sql,
  limit: number,
): Promise<{ workspaceId: string; workflowId: string }[]> {
  return await sql.all(
    `SELECT f.id AS "workflowId", w.id AS "workspaceId"
     FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
     WHERE f.deleted_at IS NOT NULL
       AND EXISTS (SELECT FROM millrace.pauses p WHERE p.workflow = f.number AND p.state = 0) LIMIT $1`,
    limit,
  )
}

export async function getPause(sql: Sql, contextId: string): Promise<StoredPause | undefined> {
  const row = await sql.get<SqlPause>(`${select} WHERE p.context_id = $1`, storable(contextId))
  return row && pauseOf(row)
}

export async function endPause(
  sql: Sql,
  { contextId, state, at, after, answer }: PauseEnd,
): Promise<EndedPause | undefined> {
  await sql.all(
    `SELECT j.number FROM millrace.jobs j JOIN millrace.pauses p ON p.execution_id = j.execution_id
     WHERE p.context_id = $1 FOR UPDATE OF j`,
    storable(contextId),
  )
  const changed = await sql.run(
    `UPDATE millrace.pauses SET state = $2, ended_at = $3, answer = $4
     WHERE context_id = $1 AND state = 0 AND ($5 OR answer IS NOT DISTINCT FROM $6)`,
    ...[storable(contextId), pauseStates.indexOf(state), state === 'open' ? null : at, answer],
    ...[after === undefined, after ?? null],
  )
  const pause = await getPause(sql, contextId)
  if (!pause) return undefined
  const isEndedNow = changed > 0
  return {
    pause,
    isEndedNow,
    job: isEndedNow && state !== 'open' ? ((await wake(sql, [pause.executionId]))[0] ?? null) : null,
  }
}

export async function extendPause(sql: Sql, contextId: string, until: number | null): Promise<StoredPause | undefined> {
  const changed = await sql.run(
    'UPDATE millrace.pauses SET until = $2 WHERE context_id = $1 AND state = 0',
    ...[storable(contextId), until],
  )
  return changed > 0 ? await getPause(sql, contextId) : undefined
}

export async function endDuePauses(sql: Sql, at: number, limit: number): Promise<DuePauses> {
  const ended = await sql.all<{ executionId: string }>(endDue, at, limit)
  const reminding = await sql.all<{ executionId: string }>(remind, at, limit)
  const jobs = await wake(sql, [...new Set([...ended, ...reminding].map(({ executionId }) => executionId))])
  const next = await sql.get<{ at: number | null }>(selectNextDue)
  return { jobs, nextAt: next?.at ?? null }
}

// Several processes share the due pauses: each skips those that another one is ending. A pause whose run is pausing at
// the moment is skipped, too, and ends with the next call.
const dueBy = (column: string, change: string) => `
  WITH due AS (
    SELECT number, execution_id FROM millrace.pauses WHERE state = 0 AND ${column} <= $1
    ORDER BY ${column} LIMIT $2 FOR UPDATE SKIP LOCKED
  ), free AS (
    SELECT execution_id FROM millrace.jobs WHERE execution_id IN (SELECT execution_id FROM due)
    ORDER BY number FOR UPDATE SKIP LOCKED
  ), ended AS (
    UPDATE millrace.pauses SET ${change}
    WHERE number IN (SELECT number FROM due WHERE execution_id IN (SELECT execution_id FROM free)
                     OR NOT EXISTS (SELECT 1 FROM millrace.jobs j WHERE j.execution_id = due.execution_id))
    RETURNING execution_id
  )
  SELECT execution_id AS "executionId" FROM ended`

const endDue = dueBy('until', 'state = 2, ended_at = $1')

/** After a long stop, one reminder replaces all those that were missed. */
const remind = dueBy(
  'remind_at',
  `reminders = reminders + 1, remind_at = CASE WHEN reminders + 1 < ${remindersMax}
     THEN remind_at + remind_every * (($1 - remind_at) / remind_every + 1) END`,
)

const selectNextDue = `
  SELECT least(
    (SELECT until FROM millrace.pauses WHERE state = 0 AND until IS NOT NULL ORDER BY until LIMIT 1),
    (SELECT remind_at FROM millrace.pauses WHERE state = 0 AND remind_at IS NOT NULL ORDER BY remind_at LIMIT 1)
  ) AS at`

/**
 * Lets paused jobs continue in this process. Jobs that are running find out by themselves when they pause. The end of a
 * pause is progress, so earlier crashes no longer count against the run. A paused job has none.
 */
async function wake(sql: Sql, executionIds: readonly string[]): Promise<JobFacts[]> {
  if (executionIds.length === 0) return []
  await sql.run(
    'UPDATE millrace.jobs SET cuts = 0 WHERE execution_id = ANY($1::text[]) AND cuts > 0',
    listOf(executionIds),
  )
  const woken = await sql.all<{ number: number }>(
    `UPDATE millrace.jobs SET state = 2, owner = $2 WHERE execution_id = ANY($1::text[]) AND state = 3
     RETURNING number`,
    ...[listOf(executionIds), sql.owner],
  )
  return woken.length === 0
    ? []
    : await interruptedJobs(
        sql,
        woken.map(({ number }) => number),
      )
}

type SqlPause = Omit<StoredPause, 'kind' | 'state' | 'isAnnounced'> & {
  number: number
  kind: number
  state: number
  announced: number
  workflowName: string
}

const pauseOf = ({ number: _number, workflowName: _name, announced, ...row }: SqlPause): StoredPause => ({
  ...row,
  kind: pauseKinds[row.kind]!,
  state: pauseStates[row.state]!,
  isAnnounced: announced > 0,
})

const select = `
  SELECT p.number, p.context_id AS "contextId", p.execution_id AS "executionId", f.id AS "workflowId",
    w.id AS "workspaceId", p.place, p.block_id AS "blockId", p.block_name AS "blockName", p.kind, p.state, p.since,
    p.until, p.ended_at AS "endedAt", p.content, p.answer, p.announced, p.reminders, f.name AS "workflowName"
  FROM millrace.pauses p JOIN millrace.workflows f ON f.number = p.workflow
    JOIN millrace.workspaces w ON w.number = p.workspace`

const ofWorkspace = 'workspace = (SELECT number FROM millrace.workspaces WHERE id = $4)'
const ofWorkflow = `workflow = (
  SELECT own.number FROM millrace.workflows own JOIN millrace.workspaces home ON home.number = own.workspace
  WHERE own.id = $5 AND home.id = $4)`

// A search for each kind, because the indexes have the kind before the number.
const listOfScope = (scope: string) => `${select} WHERE p.number IN (
    SELECT found.number FROM unnest($1::smallint[]) AS wanted (kind) CROSS JOIN LATERAL (
      SELECT number FROM millrace.pauses
      WHERE ${scope} AND kind = wanted.kind AND state = 0 AND number > $2 ORDER BY number LIMIT $3
    ) AS found
  ) ORDER BY p.number LIMIT $3`
const listOfWorkspace = listOfScope(ofWorkspace)
const listOfWorkflow = listOfScope(ofWorkflow)
