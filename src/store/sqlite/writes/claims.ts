import { type Claim, type Refusal, type RequestClaim, requestClaimMs } from '../../../domain/run/claim.ts'
import type { ScheduleStep } from '../../../domain/schedule/schedule.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'

type Claimant = { executionId: string; workflowId: string }
type Held = Omit<Refusal, 'index'>

/** Makes a run's claim. Returns undefined on success, and the holder of the claim otherwise. */
export function claimOf(sql: Sql, claimant: Claimant, claim: Claim): Held | undefined {
  if (claim.kind === 'request') return claimRequest(sql, claimant, claim)
  return takeStep(sql, claim.step) ? undefined : { executionId: null }
}

export function claimRequest(sql: Sql, claimant: Claimant, { key, at }: RequestClaim): Held | undefined {
  const { workflowId } = claimant
  const claimedBy = findRequestClaim(sql, workflowId, key, at)
  if (claimedBy !== undefined) return { executionId: claimedBy }
  sql.run(
    `INSERT OR REPLACE INTO request_claims (workflow, key, execution_id, claimed_at)
     SELECT number, ?, ?, ? FROM workflows WHERE id = ?`,
    key,
    executionKey(claimant.executionId),
    at,
    workflowId,
  )
  // Each new claim deletes up to two expired ones, so that no other cleanup is needed.
  const over = sql.all<{ workflow: number; key: string }>(
    'SELECT workflow, key FROM request_claims WHERE claimed_at <= ? ORDER BY claimed_at LIMIT 2',
    at - requestClaimMs,
  )
  for (const old of over) sql.run('DELETE FROM request_claims WHERE workflow = ? AND key = ?', old.workflow, old.key)
  return undefined
}

export function findRequestClaim(sql: Sql, workflowId: string, key: string, at: number): string | undefined {
  const held = sql.get<{ execution_id: string | Uint8Array }>(
    `SELECT execution_id FROM request_claims
     WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND key = ? AND claimed_at > ?`,
    workflowId,
    key,
    at - requestClaimMs,
  )
  return held && executionIdOf(held.execution_id)
}

/** False, and nothing changed, when the schedule is not in the state `from`. */
export function takeStep(sql: Sql, { workflowId, version, from, to }: ScheduleStep): boolean {
  const changed = sql.run(
    `UPDATE schedules SET due_at = ?, waiting_at = ?
     WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND version = ? AND due_at IS ? AND waiting_at IS ?`,
    to.dueAt,
    to.waitingAt,
    workflowId,
    version,
    from.dueAt,
    from.waitingAt,
  )
  return changed > 0
}
