import type { SkipReason } from '../../../domain/run/log.ts'
import {
  type DeliveryAttempt,
  type DeliveryKey,
  deliveryStates,
  type RunDecision,
} from '../../../domain/webhook/delivery.ts'
import { runEvents } from '../../../domain/webhook/run-event.ts'
import type { DeliveryPage, DeliveryQuery, DeliveryRow, FailedDeliveries } from '../../delivery-store.ts'
import { stateNumbers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'

/** One page of a workflow's deliveries, newest first. */
export async function listDeliveries(sql: Sql, query: DeliveryQuery): Promise<DeliveryPage> {
  const { workflowId, state, webhookId = null, after, limit } = query
  const from = after ?? { sequence: Number.MAX_SAFE_INTEGER, subscription: 0 }
  const rows = await sql.all<SqlListed>(
    state === 'failed' ? selectFailedPage : selectPage,
    workflowId,
    from.sequence,
    from.subscription,
    state === undefined ? null : stateNumbers[state],
    webhookId,
    limit,
  )
  const deliveries = rows.filter(({ isWanted }) => isWanted).map(rowOf)
  const last = rows.at(-1)
  const hasMore = last !== undefined && (last.isLast || deliveries.length === limit)
  return {
    deliveries: deliveries.filter((row) => row !== undefined),
    position: hasMore ? keyOf(last) : null,
  }
}

export async function getDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): Promise<DeliveryRow | undefined> {
  const row = await sql.get<SqlDelivery>(selectByKey, sequence, subscription)
  return row && rowOf(row)
}

/** Every attempt that has ended, in order. */
export async function listAttempts(sql: Sql, { sequence, subscription }: DeliveryKey): Promise<DeliveryAttempt[]> {
  return (await sql.all<SqlAttempt>(selectAttempts, sequence, subscription)).map(attemptOf)
}

/** The decision about each subscription when the run ended, by subscription number. */
export async function listRunWebhooks(sql: Sql, sequence: number): Promise<RunDecision[]> {
  const [sent, skipped] = await Promise.all([
    sql.all<SqlDelivery>(selectByRun, sequence),
    sql.all<RunDecision['subscription'] & { reason: SkipReason }>(selectSkipped, sequence),
  ])
  return [
    ...sent.map(
      (row): RunDecision => ({
        subscription: { number: row.subscription, id: row.subscriptionId, url: row.url },
        skipped: null,
        delivery: deliveryOf(row),
      }),
    ),
    ...skipped.map(({ reason, ...subscription }): RunDecision => ({ subscription, skipped: reason, delivery: null })),
  ].sort((one, other) => one.subscription.number - other.subscription.number)
}

/** Makes the next failed deliveries of a workflow due again, oldest first. */
export async function resendFailed(sql: Sql, { workflowId, since, after, at, limit }: FailedDeliveries) {
  const { sequence, subscription } = after ?? { sequence: since - 1, subscription: maxInt }
  const keys = await sql.all<DeliveryKey>(updateFailed, workflowId, sequence, subscription, limit, at, sql.owner)
  keys.sort((one, other) => one.sequence - other.sequence || one.subscription - other.subscription)
  return { keys, position: keys.length < limit ? null : keys.at(-1)! }
}

type SqlDelivery = Omit<DeliveryRow, 'event' | 'state' | 'executionId' | 'version' | 'endedAt' | 'lastAttempt'> & {
  /** Null for the end of a run. */
  event: number | null
  state: number
  /** These three are null when retention has deleted the entry, and is about to delete the delivery. */
  executionId: string | null
  version: number | null
  endedAt: number | null
} & { [Name in keyof SqlAttempt as `attempt_${Name}`]: SqlAttempt[Name] | null }

/** `isLast`: the last row that the query was allowed to read. */
type SqlListed = SqlDelivery & { isWanted: boolean; isLast: boolean }

function rowOf(row: SqlDelivery): DeliveryRow | undefined {
  const { workflowId, executionId, version, versionName, endedAt, subscriptionId, url } = row
  if (executionId === null || version === null || endedAt === null) return undefined
  const event = runEvents[row.event ?? 0]!
  return { ...deliveryOf(row), event, workflowId, executionId, version, versionName, endedAt, subscriptionId, url }
}

function deliveryOf(row: SqlDelivery): NonNullable<RunDecision['delivery']> {
  const { sequence, subscription, include, attempts, attemptsBefore, dueAt } = row
  return {
    ...{ sequence, subscription, include, attempts, attemptsBefore, dueAt },
    state: deliveryStates[row.state]!,
    lastAttempt: lastAttemptOf(row),
  }
}

function lastAttemptOf(row: SqlDelivery): DeliveryAttempt | null {
  const { attempt_number: number, attempt_startedAt: startedAt, attempt_durationMs: durationMs } = row
  if (number === null || startedAt === null || durationMs === null) return null
  const { attempt_status: status, attempt_code: code, attempt_message: message, attempt_answer: answer } = row
  return attemptOf({ number, startedAt, durationMs, status, code, message, answer })
}

type SqlAttempt = Omit<DeliveryAttempt, 'failure'> & { code: string | null; message: string | null }

function attemptOf({ code, message, ...attempt }: SqlAttempt): DeliveryAttempt {
  return { ...attempt, failure: code === null ? null : ({ code, message } as DeliveryAttempt['failure']) }
}

const keyOf = ({ sequence, subscription }: DeliveryKey): DeliveryKey => ({ sequence, subscription })

const detailColumns = `
  d.sequence, d.subscription, d.include, d.state, d.attempts, d.attempts_before AS "attemptsBefore",
  d.due_at AS "dueAt", s.id AS "subscriptionId", s.url, f.id AS "workflowId", e.kind AS event,
  coalesce(l.execution_id, e.execution_id) AS "executionId", coalesce(l.ended_at, e.at) AS "endedAt",
  coalesce(l.version, e.version) AS version, v.name AS "versionName", a.number AS "attempt_number",
  a.started_at AS "attempt_startedAt", a.duration_ms AS "attempt_durationMs", a.status AS "attempt_status",
  a.failure_code AS "attempt_code", a.failure_message AS "attempt_message", a.answer AS "attempt_answer"`

// The entry is found through the index of its partition; with a plain join, the planner may read whole partitions.
const detailJoins = `
  JOIN millrace.subscriptions s ON s.number = d.subscription
  JOIN millrace.workflows f ON f.number = d.workflow
  LEFT JOIN LATERAL (
    SELECT execution_id, ended_at, version FROM millrace.logs WHERE sequence = d.sequence LIMIT 1
  ) l ON true
  LEFT JOIN millrace.pause_events e ON e.sequence = d.sequence
  LEFT JOIN millrace.deployments v ON v.workflow = d.workflow AND v.version = coalesce(l.version, e.version)
  LEFT JOIN millrace.delivery_attempts a
    ON a.sequence = d.sequence AND a.subscription = d.subscription AND a.number = d.attempts`

const selectDetails = `SELECT ${detailColumns} FROM millrace.deliveries d ${detailJoins}`
const selectByKey = `${selectDetails} WHERE d.sequence = $1 AND d.subscription = $2`
const selectByRun = `${selectDetails} WHERE d.sequence = $1`

/** Maximum number of rows read for one page. */
const rowsMax = 20_000

/**
 * Reads rows one after the other until the page is full. The last of `rowsMax` rows is returned even if it is not
 * wanted, because the next page starts there.
 */
const selectRows = (condition: string) => `
  WITH wanted AS (
    SELECT f.number AS workflow, o.number AS subscription
    FROM millrace.workflows f LEFT JOIN millrace.subscriptions o ON o.workflow = f.number AND o.id = $5::text
    WHERE f.id = $1 AND ($5::text IS NULL OR o.number IS NOT NULL)
  )
  SELECT ${detailColumns}, d."isWanted", d."isLast"
  FROM (
    SELECT * FROM (
      SELECT r.*, row_number() OVER () = ${rowsMax} AS "isLast",
        ($4::smallint IS NULL OR r.state = $4::smallint)
          AND ($5::text IS NULL OR r.subscription = (SELECT subscription FROM wanted)) AS "isWanted"
      FROM (
        SELECT * FROM millrace.deliveries
        WHERE workflow = (SELECT workflow FROM wanted) ${condition}
          AND (sequence, subscription) < ($2::bigint, $3::integer)
        ORDER BY sequence DESC, subscription DESC LIMIT ${rowsMax}
      ) r
    ) counted WHERE "isWanted" OR "isLast" LIMIT $6
  ) d ${detailJoins}
  ORDER BY d.sequence DESC, d.subscription DESC`
const selectPage = selectRows('')
const selectFailedPage = selectRows('AND state = 2')

const selectAttempts = `
  SELECT number, started_at AS "startedAt", duration_ms AS "durationMs", status, failure_code AS code,
    failure_message AS message, answer
  FROM millrace.delivery_attempts WHERE sequence = $1 AND subscription = $2 ORDER BY number`

const selectSkipped = `
  SELECT s.number, s.id, s.url, item.value ->> 1 AS reason
  FROM millrace.run_webhooks w CROSS JOIN json_array_elements(w.skipped::json) item (value)
    JOIN millrace.subscriptions s ON s.number = (item.value ->> 0)::integer
  WHERE w.sequence = $1`

/** Deliveries whose entries retention has just deleted are about to be deleted too. */
const updateFailed = `
  WITH failed AS MATERIALIZED (
    SELECT sequence, subscription FROM millrace.deliveries d
    WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $1) AND state = 2
      AND (sequence, subscription) > ($2::bigint, $3::integer)
      AND (EXISTS (SELECT 1 FROM millrace.logs l WHERE l.sequence = d.sequence)
        OR EXISTS (SELECT 1 FROM millrace.pause_events e WHERE e.sequence = d.sequence))
    ORDER BY sequence, subscription LIMIT $4 FOR UPDATE
  )
  UPDATE millrace.deliveries d SET state = 0, due_at = $5, owner = $6, attempts_before = d.attempts
  FROM failed f WHERE d.sequence = f.sequence AND d.subscription = f.subscription
  RETURNING d.sequence, d.subscription`

const maxInt = 2_147_483_647
