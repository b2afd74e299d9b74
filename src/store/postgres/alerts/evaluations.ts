// Long because it has every statement of an evaluation.
import { receiverOf } from '../../../domain/alert/alert.ts'
import type { AlertBatch } from '../../../domain/alert/evaluation.ts'
import type { Refusal } from '../../../domain/run/claim.ts'
import { runStatuses } from '../../../domain/run/log.ts'
import type { AlertWrite } from '../../../domain/run/write.ts'
import type { AlertSource } from '../../../domain/webhook/delivery.ts'
import {
  batchOf,
  eventNumber,
  mostAtOnce,
  runsWithin,
  type SqlEvent,
  type SqlState,
  type SqlWatcher,
  type StoredRun,
  signInText,
  touchedBy,
} from '../../alerts/alert-batch.ts'
import type { AlertWork, EventStart, NewEvent } from '../../alerts/alert-store.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { deleteDelivered } from '../delete-delivered.ts'
import { commitOrderOf } from '../logs/commit-order.ts'
import type { Placed } from '../writes/jobs.ts'

/** Nothing is written for a workspace in which nobody watches. */
export async function noteEvent(sql: Sql, event: NewEvent): Promise<void> {
  const { workspaceId, type, workflowId, executionId, at, detail } = event
  const values = [eventNumber(type), workflowId ?? null, executionId ?? null, at, detail ? storable(detail) : null]
  await sql.run(insertEvent, ...values, workspaceId ?? null)
}

/** Part of the transaction that activates a version. */
export async function noteDeployment(sql: Sql, workflow: number, at: number): Promise<void> {
  await sql.run(insertDeployment, eventNumber('workflow.deployed'), at, workflow)
}

/** Part of the transaction that stores why a credential no longer works. */
export async function noteSignIn(sql: Sql, credentialId: string, at: number): Promise<void> {
  await sql.run(insertSignIn, eventNumber('credential.needs_sign_in'), at, credentialId)
}

type Everywhere = Pick<NewEvent, 'type' | 'at' | 'detail'>

export async function noteEventEverywhere(sql: Sql, { type, at, detail }: Everywhere): Promise<void> {
  await sql.run(insertEverywhere, eventNumber(type), at, detail ?? null)
}

export async function findAlertWork(sql: Sql, now: number): Promise<AlertWork> {
  const row = await sql.get<{ isWatched: boolean; hasStarts: boolean }>(selectWatched)
  if (!row?.isWatched) return { isWatched: false, hasStarts: row?.hasStarts ?? false, workspaceIds: [] }
  const work = await sql.all<{ id: string }>(selectWork, now)
  return { ...row, workspaceIds: work.map(({ id }) => id) }
}

type Cursor = { workspace: number; revision: number; commitOrder: number; sequence: number }

export async function readAlertBatch(
  sql: Sql,
  workspaceId: string,
  now: number,
  limit: number,
): Promise<AlertBatch | undefined> {
  // The revision comes first: a later change of what is read refuses the evaluation.
  const cursor = await sql.get<Cursor>(selectCursor, storable(workspaceId))
  if (!cursor) return undefined
  const { workspace, revision, commitOrder, sequence } = cursor
  const watchers = await sql.all<SqlWatcher>(selectWatchers, workspace)
  const most = mostAtOnce(watchers, limit)
  const rows = await sql.all<SqlRun>(selectRuns, workspace, commitOrder, sequence, most + 1)
  const found = rows.map(({ status, ...row }) => ({ ...row, status: runStatuses[status]! }))
  const runs = runsWithin(found, watchers, most) as (StoredRun & { commitOrder: number })[]
  const events = await sql.all<SqlEvent>(selectEvents, workspace, most)
  const { workflows, executionIds } = touchedBy(runs, events)
  const touched = listOf(workflows)
  const last = runs.at(-1)
  return batchOf({
    ...{ workspaceId, revision, watchers, events },
    runs: runs.map(({ commitOrder: _, ...run }) => run),
    position: last ? { commitOrder: last.commitOrder, sequence: last.sequence } : { commitOrder, sequence },
    hasMore: runs.length < found.length,
    names: await sql.all(selectNames, workspace, touched),
    states: await sql.all<SqlState>(selectStates, workspace, touched, now, limit),
    chains: await sql.all(selectChains, listOf(executionIds)),
  })
}

/**
 * Refuses the evaluations of batches that are no longer current. After a lost connection, a group may be written again:
 * an evaluation whose first firing is there was written.
 */
export async function writeEvaluations(sql: Sql, writes: readonly Placed<AlertWrite>[]): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const { index, write } of writes) {
    if (!(await writeEvaluation(sql, write))) refusals.push({ index, executionId: null })
  }
  return refusals
}

async function writeEvaluation(sql: Sql, { evaluation }: AlertWrite): Promise<boolean> {
  const { workspaceId, revision, position, events, states, watchers, firings, endedChains } = evaluation
  const moved = [position.commitOrder, position.sequence, workspaceId, revision]
  const cursor = await sql.get<{ workspace: number }>(moveCursor, ...moved)
  if (!cursor) {
    const first = firings[0]?.sequence
    return first !== undefined && (await sql.get(selectFired, first)) !== undefined
  }
  if (events.length > 0) await sql.run(deleteDropped, listOf(events))
  await sql.run('DELETE FROM millrace.workspace_events WHERE number = ANY($1::bigint[])', listOf(events))
  const stateRows = states.map(({ state, ...row }) => ({ ...row, content: JSON.stringify(state) }))
  await sql.run(putStates, rowsOf(stateRows), cursor.workspace)
  await sql.run(updateWatchers, rowsOf(watchers))
  await sql.run(deleteChains, listOf(endedChains))
  const fired = firings.map(({ start: _, content, ...firing }) => ({ ...firing, content: storableJson(content) }))
  await sql.run(markFired, rowsOf(fired))
  const messages = fired.filter((_, index) => !firings[index]!.start)
  if (messages.length > 0) await sql.run(insertMessages, rowsOf(messages), sql.owner)
  const starts = firings.flatMap(({ sequence, at, content, start }) => {
    return start ? [{ ...start, chain: JSON.stringify(start.chain), sequence, at, content: storableJson(content) }] : []
  })
  if (starts.length > 0) await sql.run(insertStarts, rowsOf(starts))
  return true
}

const storableJson = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'string' ? storable(each) : each))

export function listEventStarts(sql: Sql, limit: number, after = 0): Promise<EventStart[]> {
  return sql.all<EventStart>(selectStarts, after, limit)
}

/** The starts of these that have not been taken before. */
export async function takeEventStarts(sql: Sql, sequences: readonly number[]): Promise<ReadonlySet<number>> {
  if (sequences.length === 0) return new Set()
  const taken = await sql.all<{ sequence: number }>(takeStarts, listOf(sequences))
  return new Set(taken.map(({ sequence }) => sequence))
}

export async function dropEventStart(sql: Sql, sequence: number): Promise<void> {
  await sql.run(dropStart, sequence)
}

/** The contents of messages, in order of sequence, without unknown ones. */
export function readFirings(sql: Sql, sequences: readonly number[]): Promise<AlertSource[]> {
  return sequences.length === 0 ? Promise.resolve([]) : sql.all<AlertSource>(selectFirings, listOf(sequences))
}

/** Deletes what is older than a sequence and no longer needed: messages that were sent, and chains of ended runs. */
export async function retainFirings(sql: Sql, to: number): Promise<number> {
  return (await sql.run(deleteFirings, to)) + (await sql.run(deleteEndedRuns, to))
}

type SqlRun = Omit<StoredRun, 'status'> & { status: number; commitOrder: number }

const insertEvent = `
  INSERT INTO millrace.workspace_events (type, workflow, execution_id, at, detail, workspace)
  SELECT $1, (SELECT number FROM millrace.workflows WHERE id = $2), $3, $4::bigint, $5, c.workspace
  FROM millrace.alert_cursors c WHERE c.workspace = coalesce(
    (SELECT number FROM millrace.workspaces WHERE id = $6), (SELECT workspace FROM millrace.workflows WHERE id = $2))`

const insertDeployment = `
  INSERT INTO millrace.workspace_events (type, workflow, at, workspace)
  SELECT $1, f.number, $2::bigint, f.workspace
  FROM millrace.workflows f JOIN millrace.alert_cursors c ON c.workspace = f.workspace WHERE f.number = $3`

const insertSignIn = `
  INSERT INTO millrace.workspace_events (type, at, detail, workspace)
  SELECT $1, $2::bigint, ${signInText}, r.workspace
  FROM millrace.credentials r JOIN millrace.alert_cursors c ON c.workspace = r.workspace WHERE r.id = $3`

const insertEverywhere = `
  INSERT INTO millrace.workspace_events (type, at, detail, workspace)
  SELECT $1, $2::bigint, $3, workspace FROM millrace.alert_cursors`

const selectWatched = `
  SELECT EXISTS (SELECT 1 FROM millrace.alert_cursors) AS "isWatched",
    EXISTS (SELECT 1 FROM millrace.event_runs WHERE waiting) AS "hasStarts"`

// A cursor from another store knows no commit order. Entries were copied in the order of their sequences.
const orderOfCursor = `coalesce(c.commit_order, (
  SELECT l.commit_order FROM millrace.logs l WHERE l.workspace = c.workspace AND l.sequence <= c.sequence
  ORDER BY l.sequence DESC LIMIT 1), 0)`

/** As for readers that follow the log: entries that no other entry can precede any more (logs/log-search.ts). */
const isSettled = `l.commit_order < ${commitOrderOf('pg_snapshot_xmin(pg_current_snapshot())')}`

const selectWork = `
  SELECT w.id FROM (SELECT *, ${orderOfCursor} AS "order" FROM millrace.alert_cursors c) c
    JOIN millrace.workspaces w ON w.number = c.workspace
  WHERE EXISTS (SELECT 1 FROM millrace.logs l WHERE l.workspace = c.workspace
      AND (l.commit_order, l.sequence) > (c."order", c.sequence) AND ${isSettled})
    OR EXISTS (SELECT 1 FROM millrace.workspace_events e WHERE e.workspace = c.workspace)
    OR EXISTS (SELECT 1 FROM millrace.alert_states s WHERE s.workspace = c.workspace AND s.due_at <= $1::bigint)`

const selectCursor = `
  SELECT c.workspace, c.revision, ${orderOfCursor} AS "commitOrder", c.sequence
  FROM millrace.alert_cursors c WHERE c.workspace = (SELECT number FROM millrace.workspaces WHERE id = $1)`

const selectWatchers = `
  SELECT a.number, a.id, a.name, a.events, a.watches_all AS "watchesAll", a.rule, a.quiet_ms AS "quietMs", a.since,
    a.quiet_until AS "quietUntil", a.suppressed, f.id AS starts
  FROM millrace.alerts a LEFT JOIN millrace.workflows f ON f.number = a.starts
  WHERE a.workspace = $1 AND a.deleted_at IS NULL AND a.active ORDER BY a.number`

const selectRuns = `
  SELECT l.sequence, l.commit_order AS "commitOrder", l.workflow, f.id AS "workflowId", f.name AS "workflowName",
    l.execution_id AS "executionId", l.status, l.version, l.ended_at AS "endedAt", l.duration_ms AS "durationMs",
    l.cost_total AS "costUsd", left(l.failure::json ->> 'message', 1000) AS error
  FROM millrace.logs l JOIN millrace.workflows f ON f.number = l.workflow
  WHERE l.workspace = $1 AND (l.commit_order, l.sequence) > ($2::bigint, $3::bigint) AND ${isSettled}
  ORDER BY l.commit_order, l.sequence LIMIT $4`

const selectEvents = `
  SELECT e.number, e.type, e.workflow, f.id AS "workflowId", f.name AS "workflowName",
    e.execution_id AS "executionId", e.at, e.detail
  FROM millrace.workspace_events e LEFT JOIN millrace.workflows f ON f.number = e.workflow
  WHERE e.workspace = $1 ORDER BY e.number LIMIT $2`

const selectNames = `
  SELECT a.number AS watcher, f.id AS "workflowId"
  FROM millrace.alerts a JOIN millrace.alert_workflows n ON n.alert = a.number
    JOIN millrace.workflows f ON f.number = n.workflow AND f.deleted_at IS NULL
  WHERE a.workspace = $1 AND a.deleted_at IS NULL AND a.active AND NOT a.watches_all AND n.workflow = ANY($2::integer[])`

const selectStates = `
  SELECT s.alert AS watcher, f.id AS "workflowId", f.name AS "workflowName", s.content AS state, s.due_at AS "dueAt"
  FROM (
    SELECT s.* FROM millrace.alerts a JOIN millrace.alert_states s ON s.alert = a.number
    WHERE a.workspace = $1 AND a.deleted_at IS NULL AND a.active AND a.rule IS NOT NULL
      AND s.workflow = ANY(0 || $2::integer[])
    UNION
    (SELECT s.* FROM millrace.alert_states s JOIN millrace.alerts a ON a.number = s.alert
     WHERE s.workspace = $1 AND s.due_at <= $3::bigint AND a.deleted_at IS NULL AND a.active
     ORDER BY s.due_at LIMIT $4)
  ) s LEFT JOIN millrace.workflows f ON f.number = s.workflow`

const selectChains = `
  SELECT execution_id AS "executionId", chain FROM millrace.event_runs WHERE execution_id = ANY($1::text[])`

// An update that had to wait checks its condition again, so only one of two processes writes its evaluation.
const moveCursor = `
  UPDATE millrace.alert_cursors SET revision = revision + 1, commit_order = $1::bigint, sequence = $2::bigint
  WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $3) AND revision = $4::bigint RETURNING workspace`

const selectFired = `
  SELECT 1 WHERE EXISTS (SELECT 1 FROM millrace.alert_firings WHERE sequence = $1::bigint)
    OR EXISTS (SELECT 1 FROM millrace.event_runs WHERE sequence = $1::bigint)`

const putStates = `
  INSERT INTO millrace.alert_states (alert, workflow, workspace, content, due_at)
  SELECT r.watcher, coalesce(f.number, 0), $2::integer, r.content, r."dueAt"
  FROM json_to_recordset($1::text::json) AS r (watcher integer, "workflowId" text, content text, "dueAt" bigint)
    LEFT JOIN millrace.workflows f ON f.id = r."workflowId"
  ON CONFLICT (alert, workflow) DO UPDATE SET content = excluded.content, due_at = excluded.due_at`

const updateWatchers = `
  UPDATE millrace.alerts a SET quiet_until = r."quietUntil", suppressed = r.suppressed
  FROM json_to_recordset($1::text::json) AS r (number integer, "quietUntil" bigint, suppressed bigint)
  WHERE a.number = r.number`

// A dropped start has no content.
const isNamed = `EXISTS (SELECT 1 FROM millrace.workspace_events e WHERE e.execution_id = r.execution_id
      AND e.workspace = (SELECT f.workspace FROM millrace.workflows f WHERE f.number = r.workflow))`
const dropStart = `
  WITH kept AS (
    UPDATE millrace.event_runs r SET waiting = false, content = ''
    WHERE r.sequence = $1::bigint AND r.waiting AND ${isNamed})
  DELETE FROM millrace.event_runs r WHERE r.sequence = $1::bigint AND r.waiting AND NOT ${isNamed}`
const deleteDropped = `
  DELETE FROM millrace.event_runs WHERE NOT waiting AND content = '' AND execution_id IN (
    SELECT execution_id FROM millrace.workspace_events WHERE number = ANY($1::bigint[]))`
const deleteChains = 'DELETE FROM millrace.event_runs WHERE execution_id = ANY($1::text[]) AND NOT waiting'

// A watcher without a quiet time may fire several times at once. The last one counts.
const markFired = `
  UPDATE millrace.alerts a SET fired_at = r.at, fired_sequence = r.sequence
  FROM (SELECT DISTINCT ON (watcher) * FROM json_to_recordset($1::text::json) AS r (sequence bigint, watcher integer,
    at bigint) ORDER BY watcher, sequence DESC) r
  WHERE a.number = r.watcher`

// Deliveries belong to no workflow, so they are not in the lists of its webhook deliveries.
const insertMessages = `
  WITH r AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS r (sequence bigint, watcher integer, at bigint, content text)
  ), fired AS (
    INSERT INTO millrace.alert_firings (sequence, alert, at, content) SELECT sequence, watcher, at, content FROM r
  )
  INSERT INTO millrace.deliveries
    (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at, owner)
  SELECT sequence, watcher + ${receiverOf(0)}, 0, 0, 0, 0, 0, at, $2 FROM r`

const insertStarts = `
  INSERT INTO millrace.event_runs (sequence, workflow, execution_id, chain, content, waiting, at)
  SELECT r.sequence, f.number, r."executionId", r.chain, r.content, true, r.at
  FROM json_to_recordset($1::text::json) AS r (sequence bigint, "workflowId" text, "executionId" text, chain text,
      content text, at bigint)
    JOIN millrace.workflows f ON f.id = r."workflowId"`

const selectStarts = `
  SELECT r.sequence, f.id AS "workflowId", w.id AS "workspaceId", w.owner_id AS "ownerId",
    f.active_version AS version, r.execution_id AS "executionId", r.content, r.at
  FROM millrace.event_runs r JOIN millrace.workflows f ON f.number = r.workflow
    JOIN millrace.workspaces w ON w.number = f.workspace
  WHERE r.waiting AND r.sequence > $1::bigint ORDER BY r.sequence LIMIT $2`

const takeStarts = `
  UPDATE millrace.event_runs SET waiting = false WHERE sequence = ANY($1::bigint[]) AND waiting RETURNING sequence`

const selectFirings = `
  SELECT e.sequence, a.id AS "alertId", e.at, e.content AS alert
  FROM millrace.alert_firings e JOIN millrace.alerts a ON a.number = e.alert
  WHERE e.sequence = ANY($1::bigint[]) ORDER BY e.sequence`

const deleteFirings = deleteDelivered('alert_firings')

const deleteEndedRuns = `
  DELETE FROM millrace.event_runs WHERE sequence IN (
    SELECT r.sequence FROM millrace.event_runs r WHERE r.sequence <= $1 AND NOT r.waiting
      AND NOT EXISTS (SELECT 1 FROM millrace.jobs j WHERE j.execution_id = r.execution_id)
    ORDER BY r.sequence LIMIT 500 FOR UPDATE SKIP LOCKED)`
