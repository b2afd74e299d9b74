import type { PauseEventSource } from '../../../domain/webhook/delivery.ts'
import { type PauseEvent, runEvents } from '../../../domain/webhook/run-event.ts'
import { triggerOf } from '../../../domain/workflow/workflow.ts'
import { jobTriggers } from '../../stored-values.ts'
import { listOf, rowsOf, type Sql } from '../connection.ts'
import { deleteDelivered } from '../delete-delivered.ts'

/** An event of a job that this process has. */
export type JobEvent = { executionId: string; event: PauseEvent }

/**
 * Part of the transaction that changes the runs. The deliveries are due at once and belong to this process. Events that
 * exist already are not written again: after a lost connection, a group may be written twice.
 */
export async function insertPauseEvents(sql: Sql, events: readonly JobEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ executionId, event: { kind, ...event } }) => {
    return { ...event, executionId, kind: runEvents.indexOf(kind) }
  })
  await sql.run(insertEvents, rowsOf(rows), sql.owner)
}

/** Returns the events in order of sequence, without unknown ones. */
export async function readPauseEvents(sql: Sql, sequences: readonly number[]): Promise<PauseEventSource[]> {
  if (sequences.length === 0) return []
  return (await sql.all<SqlPauseEvent>(selectEvents, listOf(sequences))).map((row) => ({
    ...row,
    kind: runEvents[row.kind] as PauseEvent['kind'],
    trigger: triggerOf(jobTriggers[row.trigger]!),
  }))
}

type SqlPauseEvent = Omit<PauseEventSource, 'kind' | 'trigger'> & { kind: number; trigger: number }

/** Deletes events up to a sequence, with their deliveries, unless one of these is pending. Returns how many. */
export async function retainPauseEvents(sql: Sql, to: number): Promise<number> {
  return await sql.run(deleteEvents, to)
}

const insertEvents = `
  WITH r AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS r (sequence bigint, "executionId" text, kind smallint,
      at bigint, paused text, "contextIds" json, deliveries json)
  ), event AS (
    INSERT INTO millrace.pause_events
      (sequence, workflow, execution_id, version, trigger, started_at, kind, at, paused)
    SELECT r.sequence, j.workflow, j.execution_id, j.version, j.trigger, coalesce(j.started_at, j.created_at), r.kind,
      r.at, r.paused
    FROM r JOIN millrace.jobs j ON j.execution_id = r."executionId" AND j.owner IN (0, $2)
    ON CONFLICT (sequence) DO NOTHING
    RETURNING sequence, workflow
  ), announced AS (
    UPDATE millrace.pauses SET announced = 1 WHERE context_id IN (
      SELECT json_array_elements_text(r."contextIds") FROM r JOIN event USING (sequence))
  )
  INSERT INTO millrace.deliveries
    (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at, owner)
  SELECT sequence, d.subscription, event.workflow, d.include, 0, 0, 0, r.at, $2
  FROM r JOIN event USING (sequence), json_to_recordset(r.deliveries) AS d (subscription integer, include integer)`

const selectEvents = `
  SELECT e.sequence, f.id AS "workflowId", e.execution_id AS "executionId", e.trigger, e.started_at AS "startedAt",
    e.kind, e.at, e.paused
  FROM millrace.pause_events e JOIN millrace.workflows f ON f.number = e.workflow
  WHERE e.sequence = ANY($1::bigint[]) ORDER BY e.sequence`

const deleteEvents = deleteDelivered('pause_events')
