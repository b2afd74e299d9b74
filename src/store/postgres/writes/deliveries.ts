import type {
  DeliveryKey,
  DeliverySource,
  DueDelivery,
  EndedAttempt,
  RunSource,
} from '../../../domain/webhook/delivery.ts'
import { include } from '../../../domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../../delivery-store.ts'
import { levels, stateNumbers, triggers } from '../../stored-values.ts'
import { readFirings } from '../alerts/evaluations.ts'
import { noteDeliveryChanges } from '../cluster/changes.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'
import { readPauseEvents } from './pause-events.ts'

// The outbox for the dispatcher. The statement that records runs fills it (log-inserts.ts). The lists for the dashboard
// and the API are in delivery-lists.ts.

/**
 * Ignores attempts that are recorded already, so that a caller may repeat them after an unknown outcome, and those of
 * deliveries that another process has.
 */
export async function endAttempts(sql: Sql, attempts: readonly EndedAttempt[]): Promise<void> {
  for (const round of roundsOf(attempts)) await sql.run(endRound, rowsOf(round.map(attemptRow)), sql.owner)
}

/** One round, unless a group has several attempts of one delivery: a statement changes each row only once. */
function roundsOf(attempts: readonly EndedAttempt[]): EndedAttempt[][] {
  const rounds: EndedAttempt[][] = []
  const counts = new Map<string, number>()
  for (const ended of attempts) {
    const key = `${ended.delivery.sequence} ${ended.delivery.subscription}`
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    const round = rounds[count]
    if (round) round.push(ended)
    else rounds.push([ended])
  }
  return rounds
}

function attemptRow({ delivery, attempt, outcome }: EndedAttempt) {
  const { failure, answer, ...rest } = attempt
  return {
    ...delivery,
    ...rest,
    code: failure?.code ?? null,
    message: failure && storable(failure.message),
    answer: answer === null ? null : storable(answer),
    state: stateNumbers[outcome.state],
    dueAt: outcome.dueAt,
  }
}

/** Subscriptions with pending deliveries of this process. */
export async function pendingSubscriptions(sql: Sql): Promise<number[]> {
  const rows = await sql.all<{ subscription: number }>(selectSubscriptions, sql.owner)
  return rows.map(({ subscription }) => subscription)
}

/** Reads the index of pending deliveries. */
export async function measureDeliveries(sql: Sql): Promise<{ pending: number; oldestDueAt: number | null }> {
  const row = await sql.get<{ pending: number; oldestDueAt: number | null }>(countPending)
  return row ?? { pending: 0, oldestDueAt: null }
}

/** Pending deliveries of a subscription after `after` that this process has, in order of due time. */
export function nextDeliveries(
  sql: Sql,
  subscription: number,
  after: { dueAt: number; sequence: number } | null,
  limit: number,
): Promise<DueDelivery[]> {
  const { dueAt, sequence } = after ?? { dueAt: -1, sequence: -1 }
  return sql.all<DueDelivery>(selectNext, subscription, dueAt, sequence, limit, sql.owner)
}

/** The contents of webhook bodies, in order of sequence. Omits entries and events that were deleted. */
export async function readDeliveries(sql: Sql, needs: readonly DeliveryNeed[]): Promise<DeliverySource[]> {
  if (needs.length === 0) return []
  const runs: DeliverySource[] = (await sql.all<SqlSource>(selectSources, rowsOf(needs))).map(sourceOf)
  if (runs.length === needs.length) return runs
  const found = new Set(runs.map(({ sequence }) => sequence))
  const others = needs.map(({ sequence }) => sequence).filter((sequence) => !found.has(sequence))
  const events = [...(await readPauseEvents(sql, others)), ...(await readFirings(sql, others))]
  return [...runs, ...events].sort((one, other) => one.sequence - other.sequence)
}

type SqlSource = Omit<RunSource, 'level' | 'trigger' | 'finalOutput' | 'traceSpans'> & {
  bits: number
  level: number
  trigger: number
  finalOutput: string | null
  traceSpans: string | null
}

function sourceOf({ bits, level, trigger, finalOutput, traceSpans, ...row }: SqlSource): RunSource {
  const source: RunSource = { ...row, level: levels[level]!, trigger: triggers[trigger]! }
  if (finalOutput !== null) source.finalOutput = finalOutput
  if (traceSpans !== null) source.traceSpans = traceSpans
  return source
}

/** Makes a delivery due now, with a full set of attempts. A pending delivery keeps the attempts it has left. */
export async function sendAgain(sql: Sql, { sequence, subscription }: DeliveryKey, at: number): Promise<boolean> {
  const isMade = (await sql.run(updateToPending, at, sequence, subscription, sql.owner)) > 0
  if (isMade) await noteDeliveryChanges(sql, [{ sequence, subscription }])
  return isMade
}

export async function cancelDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): Promise<boolean> {
  const isCancelled = (await sql.run(cancel, sequence, subscription)) > 0
  if (isCancelled) await noteDeliveryChanges(sql, [{ sequence, subscription }])
  return isCancelled
}

/**
 * An attempt in progress when its delivery was cancelled counts if it succeeded; otherwise it is only listed. Rows are
 * locked in the order of their keys, so that two groups do not wait for each other.
 */
const endRound = `
  WITH ended AS (
    SELECT * FROM json_to_recordset($1::text::json) AS e (
      sequence bigint, subscription integer, number integer, "startedAt" bigint, "durationMs" double precision,
      status integer, code text, message text, answer text, state smallint, "dueAt" bigint)
  ), locked AS MATERIALIZED (
    SELECT d.sequence, d.subscription FROM millrace.deliveries d JOIN ended e USING (sequence, subscription)
    ORDER BY d.sequence, d.subscription FOR UPDATE OF d
  ), changed AS (
    UPDATE millrace.deliveries d SET attempts = e.number,
      state = CASE WHEN d.state = 0 OR e.state = 1 THEN e.state ELSE d.state END,
      due_at = CASE WHEN d.state = 0 THEN e."dueAt" END
    FROM ended e JOIN locked USING (sequence, subscription)
    WHERE d.sequence = e.sequence AND d.subscription = e.subscription AND d.attempts < e.number AND d.owner = $2
    RETURNING d.sequence, d.subscription
  )
  INSERT INTO millrace.delivery_attempts (sequence, subscription, number, started_at, duration_ms, status,
    failure_code, failure_message, answer)
  SELECT e.sequence, e.subscription, e.number, e."startedAt", e."durationMs", e.status, e.code, e.message, e.answer
  FROM ended e JOIN changed USING (sequence, subscription)`

/** Goes from one subscription to the next, however many deliveries each has. */
const selectSubscriptions = `
  WITH RECURSIVE found (subscription) AS (
    (SELECT subscription FROM millrace.deliveries WHERE due_at IS NOT NULL AND owner = $1
     ORDER BY subscription LIMIT 1)
    UNION ALL
    SELECT (SELECT d.subscription FROM millrace.deliveries d WHERE d.due_at IS NOT NULL AND d.owner = $1
      AND d.subscription > f.subscription ORDER BY d.subscription LIMIT 1)
    FROM found f WHERE f.subscription IS NOT NULL
  )
  SELECT subscription FROM found WHERE subscription IS NOT NULL ORDER BY subscription`

const countPending = `
  SELECT count(*) AS pending, min(due_at) AS "oldestDueAt" FROM millrace.deliveries WHERE due_at IS NOT NULL`

const selectNext = `
  SELECT sequence, subscription, include, attempts, attempts_before AS "attemptsBefore", due_at AS "dueAt"
  FROM millrace.deliveries
  WHERE owner = $5 AND subscription = $1 AND due_at IS NOT NULL AND (due_at, sequence) > ($2::bigint, $3::bigint)
  ORDER BY due_at, sequence LIMIT $4`

// The entries are found one by one, through the index of the one partition that each is in: with a plain join, the
// planner may read a whole partition. Only requested texts are read.
const selectSources = `
  SELECT n.include AS bits, l.sequence, f.id AS "workflowId", l.execution_id AS "executionId", l.level, l.trigger,
    l.started_at AS "startedAt", l.ended_at AS "endedAt", l.duration_ms AS "durationMs",
    l.paused_ms AS "pausedMs", l.cost,
    CASE WHEN n.include & ${include.finalOutput} > 0 THEN l.final_output END AS "finalOutput",
    CASE WHEN n.include & ${include.traceSpans} > 0 THEN l.trace_spans END AS "traceSpans",
    r.files, CASE WHEN n.include & ${include.rateLimits | include.usage} > 0 THEN w.facts END AS facts
  FROM json_to_recordset($1::text::json) AS n (sequence bigint, include integer)
    CROSS JOIN LATERAL (SELECT * FROM millrace.logs WHERE sequence = n.sequence LIMIT 1) l
    JOIN millrace.workflows f ON f.number = l.workflow
    LEFT JOIN millrace.run_files r ON r.sequence = l.sequence AND NOT r.gone
    LEFT JOIN millrace.run_webhooks w ON w.sequence = l.sequence
  ORDER BY l.sequence`

// Not when retention has just deleted the entry (upkeep/retention.ts): its delivery is about to be deleted too.
const updateToPending = `
  UPDATE millrace.deliveries SET state = 0, due_at = $1, owner = $4,
    attempts_before = CASE WHEN state = 0 THEN attempts_before ELSE attempts END
  WHERE sequence = $2 AND subscription = $3 AND (
    EXISTS (SELECT 1 FROM millrace.logs WHERE sequence = $2)
    OR EXISTS (SELECT 1 FROM millrace.pause_events WHERE sequence = $2))`

const cancel = `
  UPDATE millrace.deliveries SET state = 3, due_at = NULL WHERE sequence = $1 AND subscription = $2 AND state = 0`
