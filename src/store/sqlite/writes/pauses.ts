import type { JobFacts } from '../../../domain/run/job.ts'
import {
  type DuePauses,
  type EndedPause,
  endedPauseMs,
  type ListedPause,
  type NewPause,
  type PauseEnd,
  type PausePage,
  type PauseWrite,
  pauseKinds,
  pauseStates,
  remindersMax,
  type StoredPause,
} from '../../../domain/run/pause.ts'
import { notePauses } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'
import { claimRequest } from './claims.ts'
import { insertJob, insertStep, interruptedJob } from './jobs.ts'

/**
 * Pauses a running job. If one of its pauses has ended or has a reminder due, marks the job as interrupted instead, so
 * that it continues. Returns false without such a job.
 */
export function pauseJob(sql: Sql, { executionId, at, pauses, goesOn, accepts }: PauseWrite): boolean {
  if (accepts) {
    insertJob(sql, accepts.row)
    if (accepts.claim) claimRequest(sql, accepts.row, accepts.claim)
    for (const [index, content] of accepts.steps.entries()) {
      insertStep(sql, { kind: 'job-step', executionId, number: index + 1, content })
    }
  }
  const key = executionKey(executionId)
  const begun = pauses.filter((pause) => insertPause(sql, key, pause))
  if (begun.length > 0) notePauses(sql, key, executionId, begun)
  if (goesOn) return sql.run('UPDATE jobs SET pauses = 1 WHERE execution_id = ? AND state = 1', key) > 0
  const ended = sql.get<{ count: number }>(
    `SELECT count(*) AS count FROM json_each(?) j CROSS JOIN pauses p ON p.context_id = j.value ->> 0
     WHERE p.state > 0 OR p.reminders > j.value ->> 1`,
    JSON.stringify(pauses.map(({ contextId, reminders = 0 }) => [contextId, reminders])),
  )
  const changed = sql.run(
    // A run that has reached a pause was not the cause of the crashes before.
    'UPDATE jobs SET state = ?, pauses = 1, cuts = 0, waiting_since = ? WHERE execution_id = ? AND state = 1',
    ...[ended?.count ? 2 : 3, at, key],
  )
  return changed > 0
}

/**
 * False, and nothing changed, when the pause is there already, as after a crash. Each new pause deletes up to two old
 * ones, so that no other cleanup is needed.
 */
function insertPause(sql: Sql, key: string | Uint8Array, pause: NewPause): boolean {
  const every = pause.remindEveryMs ?? null
  sql.run(
    `DELETE FROM pauses WHERE number IN (
       SELECT number FROM pauses WHERE state > 0 AND ended_at <= ? ORDER BY ended_at LIMIT 2
     )`,
    pause.since - endedPauseMs,
  )
  const inserted = sql.run(
    `INSERT INTO pauses
       (context_id, execution_id, workspace, workflow, place, block_id, block_name, kind, since, until, content,
        remind_every, remind_at)
     SELECT ?, execution_id, workspace, workflow, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM jobs WHERE execution_id = ?
     ON CONFLICT (context_id) DO NOTHING`,
    ...[pause.contextId, pause.place, pause.blockId, pause.blockName, pauseKinds.indexOf(pause.kind)],
    ...[pause.since, pause.until, pause.content, every, every && pause.since + every, key],
  )
  return inserted > 0
}

export function listRunPauses(sql: Sql, executionId: string): StoredPause[] {
  const text = `${select} WHERE p.execution_id = ? ORDER BY p.number`
  return sql.all<SqlPause>(text, executionKey(executionId)).map(pauseOf)
}

export function listOpenPauses(sql: Sql, executionId: string, limit: number): StoredPause[] {
  const text = `${select} WHERE p.execution_id = ? AND p.state = 0 ORDER BY p.number LIMIT ?`
  return sql.all<SqlPause>(text, executionKey(executionId), limit).map(pauseOf)
}

export function listPauses(sql: Sql, { workspaceId, workflowId, kind, after, limit }: PausePage): ListedPause[] {
  const scope = workflowId === undefined ? ofWorkspace : ofWorkflow
  const ids = workflowId === undefined ? [workspaceId] : [workflowId, workspaceId]
  const text = `${select} WHERE ${scope} AND p.kind = ? AND p.state = 0 AND p.number > ? ORDER BY p.number LIMIT ?`
  // A query for each kind, because the indexes have the kind before the number.
  const kinds = kind === undefined ? pauseKinds : [kind]
  const rows = kinds.flatMap((each) => sql.all<SqlPause>(text, ...ids, pauseKinds.indexOf(each), after, limit))
  const first = rows.toSorted((a, b) => a.number - b.number).slice(0, limit)
  return first.map((row) => ({ ...pauseOf(row), number: row.number, workflowName: row.workflowName }))
}

const ofWorkspace = 'p.workspace = (SELECT number FROM workspaces WHERE id = ?)'
const ofWorkflow = `p.workflow = (
  SELECT own.number FROM workflows own JOIN workspaces home ON home.number = own.workspace
  WHERE own.id = ? AND home.id = ?)`

export function countPauses(sql: Sql, workspaceId: string, limit: number): number {
  const text = `SELECT count(*) AS count FROM (SELECT 1 FROM pauses p WHERE ${ofWorkspace} AND p.state = 0 LIMIT ?)`
  return sql.get<{ count: number }>(text, workspaceId, limit)?.count ?? 0
}

export function listDeletedWithPauses(sql: Sql, limit: number): { workspaceId: string; workflowId: string }[] {
  return sql.all(
    `SELECT f.id AS workflowId, w.id AS workspaceId FROM workflows f JOIN workspaces w ON w.number = f.workspace
     WHERE f.deleted_at IS NOT NULL
       AND EXISTS (SELECT 1 FROM pauses p WHERE p.workflow = f.number AND p.state = 0) LIMIT ?`,
    limit,
  )
}

export function getPause(sql: Sql, contextId: string): StoredPause | undefined {
  const row = sql.get<SqlPause>(`${select} WHERE p.context_id = ?`, contextId)
  return row && pauseOf(row)
}

export function endPause(sql: Sql, { contextId, state, at, after, answer }: PauseEnd): EndedPause | undefined {
  const changed = sql.run(
    `UPDATE pauses SET state = ?, ended_at = ?, answer = ?
     WHERE context_id = ? AND state = 0 AND (? OR answer IS ?)`,
    ...[pauseStates.indexOf(state), state === 'open' ? null : at, answer, contextId],
    ...[after === undefined ? 1 : 0, after ?? null],
  )
  const pause = getPause(sql, contextId)
  if (!pause) return undefined
  const isEndedNow = changed > 0
  return { pause, isEndedNow, job: isEndedNow && state !== 'open' ? (wake(sql, [pause.executionId])[0] ?? null) : null }
}

export function extendPause(sql: Sql, contextId: string, until: number | null): StoredPause | undefined {
  const changed = sql.run('UPDATE pauses SET until = ? WHERE context_id = ? AND state = 0', until, contextId)
  return changed > 0 ? getPause(sql, contextId) : undefined
}

export function endDuePauses(sql: Sql, at: number, limit: number): DuePauses {
  const due = sql.all<{ number: number; executionId: string | Uint8Array }>(
    `SELECT number, execution_id AS executionId FROM pauses WHERE state = 0 AND until <= ? ORDER BY until LIMIT ?`,
    ...[at, limit],
  )
  for (const { number } of due) sql.run('UPDATE pauses SET state = 2, ended_at = ? WHERE number = ?', at, number)
  const reminding = sql.all<(typeof due)[number]>(
    `SELECT number, execution_id AS executionId FROM pauses WHERE state = 0 AND remind_at <= ?
     ORDER BY remind_at LIMIT ?`,
    ...[at, limit],
  )
  for (const { number } of reminding) sql.run(remind, at, number)
  const jobs = wake(sql, [...new Set([...due, ...reminding].map(({ executionId }) => executionIdOf(executionId)))])
  return { jobs, nextAt: nextDueAt(sql) }
}

/** After a long stop, one reminder replaces all those that were missed. */
const remind = `
  UPDATE pauses SET reminders = reminders + 1,
    remind_at = iif(reminders + 1 < ${remindersMax}, remind_at + remind_every * ((?1 - remind_at) / remind_every + 1), NULL)
  WHERE number = ?2`

/** When the next pause ends or has a reminder due; null: never. */
function nextDueAt(sql: Sql): number | null {
  const [end, reminder] = ['until', 'remind_at'].map((column) => {
    const text = `SELECT ${column} AS at FROM pauses WHERE state = 0 AND ${column} IS NOT NULL ORDER BY ${column} LIMIT 1`
    return sql.get<{ at: number }>(text)?.at ?? Number.POSITIVE_INFINITY
  })
  const at = Math.min(end!, reminder!)
  return Number.isFinite(at) ? at : null
}

/**
 * Lets paused jobs continue. Jobs that are running find out by themselves when they pause. The end of a pause is
 * progress, so earlier crashes no longer count against the run. A paused job has none.
 */
function wake(sql: Sql, executionIds: readonly string[]): JobFacts[] {
  return executionIds.flatMap((executionId) => {
    const key = executionKey(executionId)
    const changed = sql.run('UPDATE jobs SET state = 2 WHERE execution_id = ? AND state = 3', key)
    if (changed === 0) sql.run('UPDATE jobs SET cuts = 0 WHERE execution_id = ? AND cuts > 0', key)
    const job = changed > 0 ? interruptedJob(sql, executionId) : undefined
    return job ? [job] : []
  })
}

type SqlPause = Omit<StoredPause, 'executionId' | 'kind' | 'state' | 'isAnnounced'> & {
  number: number
  executionId: string | Uint8Array
  kind: number
  state: number
  announced: number
  workflowName: string
}

const pauseOf = ({ number: _number, workflowName: _name, announced, ...row }: SqlPause): StoredPause => ({
  ...row,
  executionId: executionIdOf(row.executionId),
  kind: pauseKinds[row.kind]!,
  state: pauseStates[row.state]!,
  isAnnounced: announced > 0,
})

const select = `
  SELECT p.number, p.context_id AS contextId, p.execution_id AS executionId, f.id AS workflowId, w.id AS workspaceId,
    p.place, p.block_id AS blockId, p.block_name AS blockName, p.kind, p.state, p.since, p.until,
    p.ended_at AS endedAt, p.content, p.answer, p.announced, p.reminders, f.name AS workflowName
  FROM pauses p CROSS JOIN workflows f ON f.number = p.workflow CROSS JOIN workspaces w ON w.number = p.workspace`
