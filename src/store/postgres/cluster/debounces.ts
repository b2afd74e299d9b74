import { type Debounced, type DebounceStart, joinMsMin } from '../../../domain/run/debounce.ts'
import { type Sql, storable } from '../connection.ts'

/** See `ProcessStore`. */
export async function joinDebounce(sql: Sql, start: DebounceStart): Promise<Debounced> {
  const { workflowId, key, executionId, quietMs, maxMs } = start
  const values = [storable(workflowId), storable(key), executionId, sql.owner, quietMs, maxMs]
  return (await sql.get<Debounced>(join, ...values))!
}

export async function endDebounce(sql: Sql, executionId: string, _now: number, isForced = false): Promise<number> {
  if ((await sql.run(end, executionId, isForced)) > 0) return 0
  return (await sql.get<{ dueInMs: number }>(selectDue, executionId))?.dueInMs ?? 0
}

const now = '(extract(epoch FROM clock_timestamp()) * 1000)'
// When a process is gone, another process runs its jobs without waiting.
const joins = `d.due_at > ${now} AND d.owner IN (SELECT number FROM millrace.processes UNION SELECT $4)
  AND least($5::float8, d.first_at + $6::float8 - ${now}) >= least($5::float8, ${joinMsMin})`

const join = `
  INSERT INTO millrace.debounces AS d (workflow_id, key, execution_id, owner, first_at, due_at)
  VALUES ($1, $2, $3, $4::integer, ${now}, ${now} + least($5::float8, $6::float8))
  ON CONFLICT (workflow_id, key) DO UPDATE SET
    execution_id = CASE WHEN ${joins} THEN d.execution_id ELSE excluded.execution_id END,
    owner = CASE WHEN ${joins} THEN d.owner ELSE excluded.owner END,
    first_at = CASE WHEN ${joins} THEN d.first_at ELSE excluded.first_at END,
    due_at = CASE WHEN ${joins} THEN least(${now} + $5::float8, d.first_at + $6::float8) ELSE excluded.due_at END
  RETURNING execution_id AS "executionId", greatest(0, due_at - ${now})::float8 AS "dueInMs"`

const end = `DELETE FROM millrace.debounces WHERE execution_id = $1 AND ($2::boolean OR due_at <= ${now})`

const selectDue = `
  SELECT greatest(1, due_at - ${now})::float8 AS "dueInMs" FROM millrace.debounces WHERE execution_id = $1`
