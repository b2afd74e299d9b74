import type { PauseEventSource } from '../../../domain/webhook/delivery.ts'
import { type PauseEvent, runEvents } from '../../../domain/webhook/run-event.ts'
import { triggerOf } from '../../../domain/workflow/workflow.ts'
import { jobTriggers, stateNumbers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'
import { insertDeliveries } from './delivery-rows.ts'

/** Part of the transaction that changes the run. The deliveries are due at once. */
export function insertPauseEvent(sql: Sql, executionId: string, event: PauseEvent): void {
  const { sequence, kind, at, paused, contextIds, deliveries } = event
  const run = sql.get<{ workflow: number }>(
    insertEvent,
    ...[sequence, runEvents.indexOf(kind), at, paused, executionKey(executionId)],
  )
  if (!run) return
  const due = { state: stateNumbers.pending, attempts: 0, dueAt: at }
  insertDeliveries(
    sql,
    sequence,
    run.workflow,
    deliveries.map((delivery) => ({ ...delivery, ...due })),
  )
  for (const contextId of contextIds) sql.run('UPDATE pauses SET announced = 1 WHERE context_id = ?', contextId)
}

/** Returns the events in order of sequence, without unknown ones. */
export function readPauseEvents(sql: Sql, sequences: readonly number[]): PauseEventSource[] {
  if (sequences.length === 0) return []
  return sql.all<SqlPauseEvent>(selectEvents, JSON.stringify(sequences)).map((row) => ({
    ...row,
    kind: runEvents[row.kind] as PauseEvent['kind'],
    trigger: triggerOf(jobTriggers[row.trigger]!),
    executionId: executionIdOf(row.executionId),
  }))
}

/** The latest sequence; 0 without events. */
export function lastPauseEvent(sql: Sql): number {
  return sql.get<{ last: number | null }>('SELECT max(sequence) AS last FROM pause_events')?.last ?? 0
}

/** Deletes events up to a sequence, with their deliveries, unless one of these is pending. */
export function retainPauseEvents(sql: Sql, to: number): void {
  const gone = sql.all<{ sequence: number }>(selectGone, to)
  for (const { sequence } of gone) for (const statement of deleteEvent) sql.run(statement, sequence)
}

type SqlPauseEvent = Omit<PauseEventSource, 'kind' | 'trigger' | 'executionId'> & {
  kind: number
  trigger: number
  executionId: string | Uint8Array
}

const insertEvent = `
  INSERT INTO pause_events (sequence, workflow, execution_id, version, trigger, started_at, kind, at, paused)
  SELECT ?, workflow, execution_id, version, trigger, coalesce(started_at, created_at), ?, ?, ?
  FROM jobs WHERE execution_id = ?
  RETURNING workflow`

const selectEvents = `
  SELECT e.sequence, f.id AS workflowId, e.execution_id AS executionId, e.trigger, e.started_at AS startedAt, e.kind,
    e.at, e.paused
  FROM json_each(?) wanted CROSS JOIN pause_events e ON e.sequence = wanted.value
    CROSS JOIN workflows f ON f.number = e.workflow
  ORDER BY e.sequence`

const selectGone = `
  SELECT sequence FROM pause_events e WHERE sequence <= ? AND NOT EXISTS (
    SELECT 1 FROM deliveries d WHERE d.sequence = e.sequence AND d.state = 0) ORDER BY sequence LIMIT 500`

const deleteEvent = [
  'DELETE FROM delivery_attempts WHERE sequence = ?',
  'DELETE FROM deliveries WHERE sequence = ?',
  'DELETE FROM pause_events WHERE sequence = ?',
]
