import {
  type Claim,
  type HeldRequest,
  type Refusal,
  type RequestClaim,
  requestClaimMs,
} from '../../../domain/run/claim.ts'
import type { ScheduleStep } from '../../../domain/schedule/schedule.ts'
import { takeEventStart } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'

type Claimant = { executionId: string; workflowId: string }
type Held = Omit<Refusal, 'index'>

/** Makes a run's claim. Returns undefined on success, and the holder of the claim otherwise. */
export function claimOf(sql: Sql, claimant: Claimant, claim: Claim): Held | undefined {
  if (claim.kind === 'request') return claimRequest(sql, claimant, claim)
  if (claim.kind === 'event') return takeEventStart(sql, claim.sequence) ? undefined : { executionId: null }
  return takeStep(sql, claim.step) ? undefined : { executionId: null }
}

export function claimRequest(
  sql: Sql,
  claimant: Claimant,
  { key, at, request, response }: RequestClaim,
): Held | undefined {
  const { workflowId } = claimant
  const claimedBy = findRequestClaim(sql, workflowId, key, at)
  // A paused run that ends while its caller waits replaces its own claim, to add the response.
  if (claimedBy !== undefined && claimedBy !== claimant.executionId) return { executionId: claimedBy }
  sql.run(
    `INSERT OR REPLACE INTO request_claims (workflow, key, execution_id, claimed_at, request, response)
     SELECT number, ?, ?, ?, ?, ? FROM workflows WHERE id = ?`,
    key,
    executionKey(claimant.executionId),
    at,
    request ?? null,
    response ?? null,
    workflowId,
  )
  deleteExpired(sql, at)
  return undefined
}

/** Each new claim deletes up to two expired ones, so that no other cleanup is needed. */
function deleteExpired(sql: Sql, at: number): void {
  const over = sql.all<{ workflow: number; key: string }>(
    'SELECT workflow, key FROM request_claims WHERE claimed_at <= ? ORDER BY claimed_at LIMIT 2',
    at - requestClaimMs,
  )
  for (const old of over) sql.run('DELETE FROM request_claims WHERE workflow = ? AND key = ?', old.workflow, old.key)
}

/** The claims of run IDs belong to no workflow: they have the workflow 0, so that an ID is claimed only once. */
export function claimRunId(sql: Sql, executionId: string, at: number): boolean {
  deleteExpired(sql, at)
  const key = executionKey(executionId)
  const taken = sql.run(
    `INSERT INTO request_claims (workflow, key, execution_id, claimed_at) SELECT 0, ?, ?, ?
     WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE execution_id = ?)
       AND NOT EXISTS (SELECT 1 FROM logs WHERE execution_id = ?)
     ON CONFLICT (workflow, key) DO NOTHING`,
    ...[executionId, key, at, key, key],
  )
  return taken > 0
}

export function releaseRunId(sql: Sql, executionId: string): void {
  sql.run('DELETE FROM request_claims WHERE workflow = 0 AND key = ?', executionId)
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

export function findHeldRequest(sql: Sql, workflowId: string, key: string, at: number): HeldRequest | undefined {
  const held = sql.get<Omit<HeldRequest, 'executionId'> & { executionId: string | Uint8Array }>(
    `SELECT execution_id AS executionId, claimed_at AS at, request, response FROM request_claims
     WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND key = ? AND claimed_at > ?`,
    workflowId,
    key,
    at - requestClaimMs,
  )
  return held && { ...held, executionId: executionIdOf(held.executionId) }
}

/** Frees the key of a run that failed, unless the claim is that of a webhook trigger. */
export function releaseRequest(sql: Sql, executionId: string): void {
  sql.run('DELETE FROM request_claims WHERE execution_id = ? AND request IS NOT NULL', executionKey(executionId))
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
