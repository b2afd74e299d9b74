import { type HeldRequest, type Refusal, type RequestClaim, requestClaimMs } from '../../../domain/run/claim.ts'
import type { Write } from '../../../domain/run/write.ts'
import type { ScheduleStep } from '../../../domain/schedule/schedule.ts'
import { takeEventStarts } from '../alerts/evaluations.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'

/** Makes the claims of a group. Returns those that another run holds, in the order of the group. */
export async function makeClaims(sql: Sql, writes: readonly Write[]): Promise<Refusal[]> {
  const requests: RequestClaimOfGroup[] = []
  const steps: StepOfGroup[] = []
  const events: { index: number; sequence: number }[] = []
  for (const [index, write] of writes.entries()) {
    if (write.kind === 'schedule') steps.push({ index, step: write.step })
    else if (write.kind === 'log' || write.kind === 'job') {
      const { claim, row } = write
      if (claim?.kind === 'request') {
        requests.push({
          index,
          isRefusable: write.kind === 'job',
          executionId: row.executionId,
          workflowId: row.workflowId,
          claim,
        })
      } else if (claim?.kind === 'event') events.push({ index, sequence: claim.sequence })
      else if (claim) steps.push({ index, step: claim.step })
    } else if (write.kind === 'job-pause') {
      const { row, claim } = write.accepts ?? {}
      if (row && claim)
        requests.push({ index, isRefusable: false, executionId: row.executionId, workflowId: row.workflowId, claim })
    }
  }
  const refusals = [...(await claimRequests(sql, requests)), ...(await takeSteps(sql, steps))]
  refusals.push(...(await claimEvents(sql, events)))
  return refusals.sort((a, b) => a.index - b.index)
}

async function claimEvents(sql: Sql, events: readonly { index: number; sequence: number }[]): Promise<Refusal[]> {
  const taken = await takeEventStarts(
    sql,
    events.map(({ sequence }) => sequence),
  )
  return events.flatMap(({ index, sequence }) => (taken.has(sequence) ? [] : [{ index, executionId: null }]))
}

/** `isRefusable`: a run that has ended, or is paused, is recorded even if another one holds its claim. */
type RequestClaimOfGroup = {
  index: number
  isRefusable: boolean
  workflowId: string
  executionId: string
  claim: RequestClaim
}
type StepOfGroup = { index: number; step: ScheduleStep }

async function claimRequests(sql: Sql, claims: readonly RequestClaimOfGroup[]): Promise<Refusal[]> {
  if (claims.length === 0) return []
  const nameOf = ({ workflowId, key }: { workflowId: string; key: string }) => `${workflowId} ${key}`
  const nameOfClaim = ({ workflowId, claim }: RequestClaimOfGroup) => nameOf({ workflowId, key: claim.key })
  const firsts = new Map<string, RequestClaimOfGroup>()
  for (const one of claims) if (!firsts.has(nameOfClaim(one))) firsts.set(nameOfClaim(one), one)
  const wanted = [...firsts.values()]
  const taken = await sql.all<{ workflowId: string; key: string }>(insertClaims, claimRows(wanted), requestClaimMs)
  const oldest = Math.min(...wanted.map(({ claim }) => claim.at))
  // Each new claim deletes up to two expired ones, so that no other cleanup is needed.
  await sql.run(deleteExpired, oldest - requestClaimMs, 2 * wanted.length)
  const holders = new Map(taken.map((claim) => [nameOf(claim), firsts.get(nameOf(claim))?.executionId]))
  if (taken.length < wanted.length) {
    const others = wanted.filter((claim) => !holders.has(nameOfClaim(claim)))
    const held = await sql.all<Holder>(selectHolders, claimRows(others))
    for (const claim of held) holders.set(nameOf(claim), claim.executionId)
  }
  return claims.flatMap((one) => {
    const { index, isRefusable, executionId } = one
    const holder = holders.get(nameOfClaim(one))
    return !isRefusable || holder === undefined || holder === executionId ? [] : [{ index, executionId: holder }]
  })
}

type Holder = { workflowId: string; key: string; executionId: string }

const claimRows = (claims: readonly RequestClaimOfGroup[]) =>
  rowsOf(
    claims.map(({ workflowId, executionId, claim: { key, at, request = null, response = null } }) => {
      return { workflowId, key, executionId, at, request, response }
    }),
  )

const fromClaims = `
  FROM json_to_recordset($1::text::json) AS r ("workflowId" text, key text, "executionId" text, at bigint,
      request text, response text)
    JOIN millrace.workflows f ON f.id = r."workflowId"`

// Sorted, so that two groups with the same keys wait for each other in one direction only.
const insertClaims = `
  INSERT INTO millrace.request_claims AS c (workflow, key, execution_id, claimed_at, request, response)
  SELECT f.number, r.key, r."executionId", r.at, r.request, decode(r.response, 'base64') ${fromClaims} ORDER BY f.number, r.key
  ON CONFLICT (workflow, key) DO UPDATE SET execution_id = excluded.execution_id, claimed_at = excluded.claimed_at,
    request = excluded.request, response = excluded.response
    WHERE c.claimed_at <= excluded.claimed_at - $2::bigint OR c.execution_id = excluded.execution_id
  RETURNING (SELECT f.id FROM millrace.workflows f WHERE f.number = c.workflow) AS "workflowId", key`

// A statement of its own, because it must see claims that were committed while the other one waited for them.
const selectHolders = `
  SELECT f.id AS "workflowId", c.key, c.execution_id AS "executionId" ${fromClaims}
    JOIN millrace.request_claims c ON c.workflow = f.number AND c.key = r.key`

const deleteExpired = `
  DELETE FROM millrace.request_claims WHERE (workflow, key) IN (
    SELECT workflow, key FROM millrace.request_claims WHERE claimed_at <= $1::bigint
    ORDER BY claimed_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED)`

/** The claims of run IDs belong to no workflow: they have the workflow 0, so that an ID is claimed only once. */
export async function claimRunId(sql: Sql, executionId: string, at: number): Promise<boolean> {
  await sql.run(deleteExpired, at - requestClaimMs, 2)
  const claimed = await sql.all(
    `INSERT INTO millrace.request_claims (workflow, key, execution_id, claimed_at) SELECT 0, $1, $1, $2::bigint
     WHERE NOT EXISTS (SELECT 1 FROM millrace.jobs WHERE execution_id = $1)
       AND NOT EXISTS (SELECT 1 FROM millrace.logs WHERE execution_id = $1)
     ON CONFLICT (workflow, key) DO NOTHING RETURNING key`,
    storable(executionId),
    at,
  )
  return claimed.length > 0
}

export async function releaseRunId(sql: Sql, executionId: string): Promise<void> {
  await sql.run('DELETE FROM millrace.request_claims WHERE workflow = 0 AND key = $1', storable(executionId))
}

export async function findRequestClaim(
  sql: Sql,
  workflowId: string,
  key: string,
  at: number,
): Promise<string | undefined> {
  const held = await sql.get<{ executionId: string }>(
    `SELECT c.execution_id AS "executionId" FROM millrace.request_claims c
       JOIN millrace.workflows f ON f.number = c.workflow
     WHERE f.id = $1 AND c.key = $2 AND c.claimed_at > $3::bigint`,
    storable(workflowId),
    key,
    at - requestClaimMs,
  )
  return held?.executionId
}

export function findHeldRequest(
  sql: Sql,
  workflowId: string,
  key: string,
  at: number,
): Promise<HeldRequest | undefined> {
  return sql.get<HeldRequest>(
    `SELECT c.execution_id AS "executionId", c.claimed_at AS at, c.request, c.response
     FROM millrace.request_claims c JOIN millrace.workflows f ON f.number = c.workflow
     WHERE f.id = $1 AND c.key = $2 AND c.claimed_at > $3::bigint`,
    storable(workflowId),
    key,
    at - requestClaimMs,
  )
}

/** Frees the keys of runs that failed, unless the claims are those of webhook triggers. */
export async function releaseRequests(sql: Sql, executionIds: readonly string[]): Promise<void> {
  if (executionIds.length === 0) return
  const text = 'DELETE FROM millrace.request_claims WHERE execution_id = ANY($1::text[]) AND request IS NOT NULL'
  await sql.run(text, listOf(executionIds))
}

/** Refuses the steps of schedules that are not in the state `from`. Steps of one schedule follow each other. */
async function takeSteps(sql: Sql, steps: readonly StepOfGroup[]): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  let rest = steps
  while (rest.length > 0) {
    const firsts = new Map<string, StepOfGroup>()
    const later: StepOfGroup[] = []
    for (const each of rest) {
      if (firsts.has(each.step.workflowId)) later.push(each)
      else firsts.set(each.step.workflowId, each)
    }
    const rows = [...firsts.values()].map(({ index, step: { workflowId, version, from, to } }) => ({
      ...{ index, workflowId, version },
      ...{ fromDueAt: from.dueAt, fromWaitingAt: from.waitingAt, toDueAt: to.dueAt, toWaitingAt: to.waitingAt },
    }))
    const taken = new Set((await sql.all<{ index: number }>(updateSchedules, rowsOf(rows))).map(({ index }) => index))
    for (const { index } of rows) if (!taken.has(index)) refusals.push({ index, executionId: null })
    rest = later
  }
  return refusals
}

// An update that had to wait checks its condition again, so only one of two processes takes a step.
const updateSchedules = `
  UPDATE millrace.schedules s SET due_at = r."toDueAt", waiting_at = r."toWaitingAt"
  FROM json_to_recordset($1::text::json) AS r (index integer, "workflowId" text, version integer, "fromDueAt" bigint,
      "fromWaitingAt" bigint, "toDueAt" bigint, "toWaitingAt" bigint)
    JOIN millrace.workflows f ON f.id = r."workflowId"
  WHERE s.workflow = f.number AND s.version = r.version AND s.due_at IS NOT DISTINCT FROM r."fromDueAt"
    AND s.waiting_at IS NOT DISTINCT FROM r."fromWaitingAt"
  RETURNING r.index`
