import type { Refusal } from '../../../domain/run/claim.ts'
import type { JobWrite } from '../../../domain/run/write.ts'
import type { Sql } from '../connection.ts'
import type { Placed } from './jobs.ts'

/**
 * Replaces the inputs of jobs that have not begun, in any process. Refuses the others. It writes one input at a time,
 * because a group may contain several inputs of one job, and the last one counts.
 */
export async function replaceInputs(
  sql: Sql,
  inputs: readonly Placed<Extract<JobWrite, { kind: 'job-input' }>>[],
): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (const { index, write } of inputs) {
    const changed = await sql.run(replace, write.executionId, write.version, write.input)
    if (changed === 0) refusals.push({ index, executionId: null })
  }
  return refusals
}

const replace = 'UPDATE millrace.jobs SET input = $3, version = $2 WHERE execution_id = $1 AND state = 0'
