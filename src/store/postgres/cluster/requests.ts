import type { RequestUnderWay } from '../../process-store.ts'
import { type Sql, storable } from '../connection.ts'

/** Announces a run of a request. False while a living process runs one with the same key. */
export async function beginRequest(sql: Sql, { workflowId, key, executionId }: RequestUnderWay): Promise<boolean> {
  return (await sql.run(insert, storable(workflowId), key, executionId, sql.owner)) > 0
}

export async function endRequest(sql: Sql, { workflowId, key, executionId }: RequestUnderWay): Promise<void> {
  await sql.run(
    `DELETE FROM millrace.requests_under_way WHERE key = $2 AND execution_id = $3
       AND workflow = (SELECT number FROM millrace.workflows WHERE id = $1)`,
    storable(workflowId),
    key,
    executionId,
  )
}

// A process knows its own requests: a row of its own is a rest. Only one of two processes takes over what a third one
// left: the other waits, and then sees a living owner.
const insert = `
  INSERT INTO millrace.requests_under_way AS r (workflow, key, execution_id, owner)
  SELECT number, $2, $3, $4 FROM millrace.workflows WHERE id = $1
  ON CONFLICT (workflow, key) DO UPDATE SET execution_id = excluded.execution_id, owner = excluded.owner
    WHERE r.owner = excluded.owner OR r.owner NOT IN (SELECT number FROM millrace.processes)`
