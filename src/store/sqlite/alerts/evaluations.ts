import { receiverOf } from '../../../domain/alert/alert.ts'
import type { AlertBatch, AlertEvaluation, Firing } from '../../../domain/alert/evaluation.ts'
import { runStatuses } from '../../../domain/run/log.ts'
import type { NewPause } from '../../../domain/run/pause.ts'
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
import { stateNumbers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, statusColumn } from '../tables/rows.ts'
import { insertDeliveries } from '../writes/delivery-rows.ts'

/** Nothing is written for a workspace in which nobody watches. */
export function noteEvent(sql: Sql, { workspaceId, type, workflowId, executionId, at, detail }: NewEvent): void {
  const values = [eventNumber(type), workflowId ?? null, executionId ?? null, at, detail ?? null]
  sql.run(insertEvent, ...values, workspaceId ?? null)
}

export function noteEventEverywhere(sql: Sql, { type, at, detail }: Pick<NewEvent, 'type' | 'at' | 'detail'>): void {
  sql.run(insertEverywhere, eventNumber(type), at, detail ?? null)
}

/** Part of the transaction that pauses a run. */
export function notePauses(
  sql: Sql,
  key: string | Uint8Array,
  executionId: string,
  pauses: readonly Pick<NewPause, 'kind' | 'since'>[],
): void {
  const approval = pauses.find(({ kind }) => kind === 'approval')
  sql.run(insertPauseEvent, eventNumber('run.paused'), executionId, pauses[0]?.since ?? 0, key)
  if (approval) sql.run(insertPauseEvent, eventNumber('approval.waiting'), executionId, approval.since, key)
}

/** Part of the transaction that activates a version. */
export function noteDeployment(sql: Sql, workflow: number, at: number): void {
  sql.run(insertDeployment, eventNumber('workflow.deployed'), at, workflow)
}

/** Part of the transaction that stores why a credential no longer works. */
export function noteSignIn(sql: Sql, credentialId: string, at: number): void {
  sql.run(insertSignIn, eventNumber('credential.needs_sign_in'), at, credentialId)
}

export function findAlertWork(sql: Sql, now: number): AlertWork {
  const workspaceIds = sql.all<{ id: string }>(selectWork, now).map(({ id }) => id)
  const hasStarts = sql.get('SELECT 1 FROM event_runs WHERE waiting = 1 LIMIT 1') !== undefined
  const isWatched = workspaceIds.length > 0 || sql.get('SELECT 1 FROM alert_cursors LIMIT 1') !== undefined
  return { isWatched, hasStarts, workspaceIds }
}

export function readAlertBatch(sql: Sql, workspaceId: string, now: number, limit: number): AlertBatch | undefined {
  const cursor = sql.get<{ workspace: number; revision: number; sequence: number }>(selectCursor, workspaceId)
  if (!cursor) return undefined
  const { workspace, revision, sequence } = cursor
  const watchers = sql.all<SqlWatcher>(selectWatchers, workspace)
  const most = mostAtOnce(watchers, limit)
  const found = sql.all<SqlRun>(selectRuns, workspace, sequence, most + 1).map(runOf)
  const runs = runsWithin(found, watchers, most)
  const events = sql.all<SqlEvent>(selectEvents, workspace, most)
  const { workflows, executionIds } = touchedBy(runs, events)
  const touched = JSON.stringify(workflows)
  return batchOf({
    ...{ workspaceId, revision, watchers, runs, events },
    position: { commitOrder: null, sequence: runs.at(-1)?.sequence ?? sequence },
    hasMore: runs.length < found.length,
    names: sql.all<{ watcher: number; workflowId: string }>(selectNames, workspace, touched),
    states: [
      ...sql.all<SqlState>(selectStates, workspace, touched),
      ...sql.all<SqlState>(selectDue, workspace, now, touched, limit),
    ],
    chains: sql.all<{ executionId: string; chain: string }>(selectChains, JSON.stringify(executionIds)),
  })
}

/** False, and nothing changed, when something was evaluated or changed since the batch was read. */
export function writeEvaluation(sql: Sql, evaluation: AlertEvaluation): boolean {
  const { workspaceId, revision, position, events, states, watchers, firings, endedChains } = evaluation
  const cursor = sql.get<{ workspace: number }>(moveCursor, position.sequence, workspaceId, revision)
  if (!cursor) return false
  if (events.length > 0) {
    sql.run(deleteDropped, JSON.stringify(events))
    sql.run(deleteEvents, JSON.stringify(events))
  }
  for (const { watcher, workflowId, state, dueAt } of states) {
    sql.run(putState, watcher, workflowId, cursor.workspace, JSON.stringify(state), dueAt)
  }
  for (const { number, quietUntil, suppressed } of watchers) {
    sql.run('UPDATE alerts SET quiet_until = ?, suppressed = ? WHERE number = ?', quietUntil, suppressed, number)
  }
  if (endedChains.length > 0) sql.run(deleteChains, JSON.stringify(endedChains))
  for (const firing of firings) fire(sql, firing)
  return true
}

function fire(sql: Sql, { sequence, watcher, at, content, start }: Firing): void {
  const text = JSON.stringify(content)
  sql.run('UPDATE alerts SET fired_at = ?, fired_sequence = ? WHERE number = ?', at, sequence, watcher)
  if (start) {
    const { executionId, chain, workflowId } = start
    sql.run(insertStart, sequence, executionId, JSON.stringify(chain), text, at, workflowId)
    return
  }
  sql.run('INSERT INTO alert_firings (sequence, alert, at, content) VALUES (?, ?, ?, ?)', sequence, watcher, at, text)
  const due = { include: 0, state: stateNumbers.pending, attempts: 0, dueAt: at }
  // They belong to no workflow, so they are not in the lists of its webhook deliveries.
  insertDeliveries(sql, sequence, 0, [{ subscription: receiverOf(watcher), ...due }])
}

export function listEventStarts(sql: Sql, limit: number, after = 0): EventStart[] {
  return sql.all<EventStart>(selectStarts, after, limit)
}

/** False when the run has been started or given up. */
export function takeEventStart(sql: Sql, sequence: number): boolean {
  return sql.run('UPDATE event_runs SET waiting = 0 WHERE sequence = ? AND waiting = 1', sequence) > 0
}

export function dropEventStart(sql: Sql, sequence: number): void {
  sql.run(keepChain, sequence)
  sql.run('DELETE FROM event_runs WHERE sequence = ? AND waiting = 1', sequence)
}

/** The contents of messages, in order of sequence, without unknown ones. */
export function readFirings(sql: Sql, sequences: readonly number[]): AlertSource[] {
  return sequences.length === 0 ? [] : sql.all<AlertSource>(selectFirings, JSON.stringify(sequences))
}

/** The latest sequence; 0 without firings. */
export function lastFiring(sql: Sql): number {
  return Math.max(maximum(sql, 'alert_firings'), maximum(sql, 'event_runs'))
}

function maximum(sql: Sql, table: 'alert_firings' | 'event_runs'): number {
  return sql.get<{ last: number | null }>(`SELECT max(sequence) AS last FROM ${table}`)?.last ?? 0
}

/** Deletes what is older than a sequence and no longer needed: messages that were sent, and chains of ended runs. */
export function retainFirings(sql: Sql, to: number): void {
  const gone = sql.all<{ sequence: number }>(selectGone, to)
  for (const { sequence } of gone) for (const statement of deleteFiring) sql.run(statement, sequence)
  sql.run(deleteEndedRuns, to)
}

type SqlRun = Omit<StoredRun, 'status' | 'executionId'> & { status: number; executionId: string | Uint8Array }

const runOf = ({ status, executionId, ...row }: SqlRun): StoredRun => ({
  ...row,
  status: runStatuses[status]!,
  executionId: executionIdOf(executionId),
})

const insertEvent = `
  INSERT INTO workspace_events (type, workflow, execution_id, at, detail, workspace)
  SELECT ?1, (SELECT number FROM workflows WHERE id = ?2), ?3, ?4, ?5, c.workspace
  FROM alert_cursors c WHERE c.workspace = coalesce(
    (SELECT number FROM workspaces WHERE id = ?6), (SELECT workspace FROM workflows WHERE id = ?2))`

const insertPauseEvent = `
  INSERT INTO workspace_events (type, workflow, execution_id, at, workspace)
  SELECT ?, j.workflow, ?, ?, j.workspace FROM jobs j CROSS JOIN alert_cursors c ON c.workspace = j.workspace
  WHERE j.execution_id = ?`

const insertDeployment = `
  INSERT INTO workspace_events (type, workflow, at, workspace)
  SELECT ?, f.number, ?, f.workspace FROM workflows f CROSS JOIN alert_cursors c ON c.workspace = f.workspace
  WHERE f.number = ?`

const insertSignIn = `
  INSERT INTO workspace_events (type, at, detail, workspace)
  SELECT ?, ?, ${signInText}, r.workspace FROM credentials r CROSS JOIN alert_cursors c ON c.workspace = r.workspace
  WHERE r.id = ?`

const insertEverywhere = `
  INSERT INTO workspace_events (type, at, detail, workspace) SELECT ?, ?, ?, workspace FROM alert_cursors`

// CROSS JOIN makes SQLite read the tables in this order: first the few cursors.
const selectWork = `
  SELECT w.id FROM alert_cursors c CROSS JOIN workspaces w ON w.number = c.workspace
  WHERE EXISTS (SELECT 1 FROM logs l WHERE l.workspace = c.workspace AND l.sequence > c.sequence)
    OR EXISTS (SELECT 1 FROM workspace_events e WHERE e.workspace = c.workspace)
    OR EXISTS (SELECT 1 FROM alert_states s WHERE s.workspace = c.workspace AND s.due_at <= ?)`

const selectCursor = `
  SELECT workspace, revision, sequence FROM alert_cursors WHERE workspace = (SELECT number FROM workspaces WHERE id = ?)`

const selectWatchers = `
  SELECT a.number, a.id, a.name, a.events, a.watches_all AS watchesAll, a.rule, a.quiet_ms AS quietMs, a.since,
    a.quiet_until AS quietUntil, a.suppressed, f.id AS starts
  FROM alerts a LEFT JOIN workflows f ON f.number = a.starts
  WHERE a.workspace = ? AND a.deleted_at IS NULL AND a.active = 1 ORDER BY a.number`

const selectRuns = `
  SELECT l.sequence, l.workflow, f.id AS workflowId, f.name AS workflowName, l.execution_id AS executionId,
    ${statusColumn} AS status, l.version, l.ended_at AS endedAt, l.duration_ms AS durationMs, l.cost_total AS costUsd,
    substr(n.failure ->> '$.message', 1, 1000) AS error
  FROM logs l CROSS JOIN workflows f ON f.number = l.workflow
    LEFT JOIN log_notes n ON l.level = 1 AND n.workspace = l.workspace AND n.sequence = l.sequence
  WHERE l.workspace = ? AND l.sequence > ? ORDER BY l.sequence LIMIT ?`

const selectEvents = `
  SELECT e.number, e.type, e.workflow, f.id AS workflowId, f.name AS workflowName, e.execution_id AS executionId, e.at,
    e.detail
  FROM workspace_events e LEFT JOIN workflows f ON f.number = e.workflow
  WHERE e.workspace = ? ORDER BY e.number LIMIT ?`

const selectNames = `
  SELECT a.number AS watcher, f.id AS workflowId
  FROM alerts a CROSS JOIN alert_workflows n ON n.alert = a.number
    CROSS JOIN workflows f ON f.number = n.workflow AND f.deleted_at IS NULL
  WHERE a.workspace = ?1 AND a.deleted_at IS NULL AND a.active = 1 AND a.watches_all = 0
    AND n.workflow IN (SELECT value FROM json_each(?2))`

const stateColumns =
  's.alert AS watcher, f.id AS workflowId, f.name AS workflowName, s.content AS state, s.due_at AS dueAt'
const isActive = 'a.deleted_at IS NULL AND a.active = 1'
// A workflow that is deleted has no name, but a state without a workflow has none either.
const selectStates = `
  SELECT ${stateColumns} FROM alerts a
    CROSS JOIN (SELECT value FROM json_each(?2) UNION SELECT 0) t
    CROSS JOIN alert_states s ON s.alert = a.number AND s.workflow = t.value
    LEFT JOIN workflows f ON f.number = s.workflow
  WHERE a.workspace = ?1 AND ${isActive} AND a.rule IS NOT NULL`
const selectDue = `
  SELECT ${stateColumns} FROM alert_states s CROSS JOIN alerts a ON a.number = s.alert
    LEFT JOIN workflows f ON f.number = s.workflow
  WHERE s.workspace = ?1 AND s.due_at <= ?2 AND ${isActive}
    AND s.workflow NOT IN (SELECT value FROM json_each(?3) UNION SELECT 0)
  ORDER BY s.due_at LIMIT ?4`

const selectChains = `
  SELECT r.execution_id AS executionId, r.chain FROM json_each(?) t CROSS JOIN event_runs r ON r.execution_id = t.value`

const moveCursor = `
  UPDATE alert_cursors SET revision = revision + 1, sequence = ?1
  WHERE workspace = (SELECT number FROM workspaces WHERE id = ?2) AND revision = ?3 RETURNING workspace`

const deleteEvents = 'DELETE FROM workspace_events WHERE number IN (SELECT value FROM json_each(?))'
// A dropped start has no content.
const keepChain = `
  UPDATE event_runs SET waiting = 0, content = '' WHERE sequence = ? AND waiting = 1 AND EXISTS (
    SELECT 1 FROM workspace_events e WHERE e.execution_id = event_runs.execution_id
      AND e.workspace = (SELECT f.workspace FROM workflows f WHERE f.number = event_runs.workflow))`
const deleteDropped = `
  DELETE FROM event_runs WHERE waiting = 0 AND content = '' AND execution_id IN (
    SELECT e.execution_id FROM json_each(?) t CROSS JOIN workspace_events e ON e.number = t.value)`
const deleteChains = 'DELETE FROM event_runs WHERE execution_id IN (SELECT value FROM json_each(?)) AND waiting = 0'

const putState = `
  INSERT INTO alert_states (alert, workflow, workspace, content, due_at)
  VALUES (?1, coalesce((SELECT number FROM workflows WHERE id = ?2), 0), ?3, ?4, ?5)
  ON CONFLICT (alert, workflow) DO UPDATE SET content = ?4, due_at = ?5`

const insertStart = `
  INSERT INTO event_runs (sequence, workflow, execution_id, chain, content, waiting, at)
  SELECT ?, number, ?, ?, ?, 1, ? FROM workflows WHERE id = ?`

const selectStarts = `
  SELECT r.sequence, f.id AS workflowId, w.id AS workspaceId, w.owner_id AS ownerId, f.active_version AS version,
    r.execution_id AS executionId, r.content, r.at
  FROM event_runs r CROSS JOIN workflows f ON f.number = r.workflow CROSS JOIN workspaces w ON w.number = f.workspace
  WHERE r.waiting = 1 AND r.sequence > ? ORDER BY r.sequence LIMIT ?`

const selectFirings = `
  SELECT e.sequence, a.id AS alertId, e.at, e.content AS alert FROM json_each(?) wanted
    CROSS JOIN alert_firings e ON e.sequence = wanted.value CROSS JOIN alerts a ON a.number = e.alert
  ORDER BY e.sequence`

const selectGone = `
  SELECT sequence FROM alert_firings e WHERE sequence <= ? AND NOT EXISTS (
    SELECT 1 FROM deliveries d WHERE d.sequence = e.sequence AND d.state = 0) ORDER BY sequence LIMIT 500`
const deleteFiring = [
  'DELETE FROM delivery_attempts WHERE sequence = ?',
  'DELETE FROM deliveries WHERE sequence = ?',
  'DELETE FROM alert_firings WHERE sequence = ?',
]
const deleteEndedRuns = `
  DELETE FROM event_runs WHERE sequence IN (
    SELECT r.sequence FROM event_runs r WHERE r.sequence <= ? AND r.waiting = 0 AND NOT EXISTS (
      SELECT 1 FROM jobs j WHERE j.execution_id = unhex(replace(r.execution_id, '-', ''))) LIMIT 500)`
