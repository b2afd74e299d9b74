import type { SkipReason } from '../../../domain/run/log.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryKey,
  type DeliveryState,
  deliveryStates,
  type RunDecision,
} from '../../../domain/webhook/delivery.ts'
import { runEvents } from '../../../domain/webhook/run-event.ts'
import type { DeliveryPage, DeliveryQuery, DeliveryRow, FailedDeliveries } from '../../delivery-store.ts'
import type { Sql } from '../connection.ts'
import { fanOutDeliveriesOf, fanOutRecordsAsRows } from '../writes/fan-out-records.ts'
import { executionIdOf } from './rows.ts'

/** One page of a workflow's deliveries, newest first. */
export function listDeliveries(sql: Sql, { workflowId, state, webhookId, after, limit }: DeliveryQuery): DeliveryPage {
  const workflow = sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ?', workflowId)
  if (!workflow) return { deliveries: [], position: null }
  const only = webhookId === undefined ? undefined : numberOf(sql, workflow.number, webhookId)
  if (only === null) return { deliveries: [], position: null }
  const isWanted = (row: { subscription: number; state: number }) =>
    (state === undefined || deliveryStates[row.state] === state) && (only === undefined || row.subscription === only)
  const found: DeliveryKey[] = []
  let from: DeliveryKey = after ?? { sequence: Number.MAX_SAFE_INTEGER, subscription: 0 }
  for (let read = 0; read < rowsMax; read += rowsPerRead) {
    const rows = nextRows(sql, workflow.number, state, from)
    for (const row of rows) {
      from = row
      if (isWanted(row)) found.push(row)
      if (found.length === limit) return { deliveries: found.map((key) => expect(sql, key)), position: keyOf(from) }
    }
    if (rows.length < rowsPerRead) return { deliveries: found.map((key) => expect(sql, key)), position: null }
  }
  return { deliveries: found.map((key) => expect(sql, key)), position: keyOf(from) }
}

type Listed = DeliveryKey & { state: number }

/** The next rows in the order of the list, whatever their state. */
function nextRows(sql: Sql, workflow: number, state: DeliveryState | undefined, from: DeliveryKey): Listed[] {
  const select = state === 'failed' ? selectFailed : selectOfWorkflow
  const rows = sql.all<Listed>(select, workflow, from.sequence, from.subscription, rowsPerRead)
  const pending = state === undefined || state === 'pending' ? fanOutDeliveriesOf(sql, workflow, from, rowsPerRead) : []
  if (pending.length === 0) return rows
  return rows
    .concat(pending)
    .sort((one, other) => other.sequence - one.sequence || other.subscription - one.subscription)
    .slice(0, rowsPerRead)
}

function numberOf(sql: Sql, workflow: number, webhookId: string): number | null {
  const select = 'SELECT number FROM subscriptions WHERE workflow = ? AND id = ?'
  return sql.get<{ number: number }>(select, workflow, webhookId)?.number ?? null
}

export function getDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): DeliveryRow | undefined {
  const row =
    sql.get<SqlDelivery>(`${selectDelivery} ${byKey}`, sequence, subscription) ??
    sql.get<SqlDelivery>(`${selectFromFanOut} ${byKey}`, sequence, subscription)
  return row && { ...deliveryOf(sql, row), ...runOf(row) }
}

/** Every attempt that has ended, in order. */
export function listAttempts(sql: Sql, { sequence, subscription }: DeliveryKey): DeliveryAttempt[] {
  const select = `${selectAttempts} WHERE sequence = ? AND subscription = ? ORDER BY number`
  return sql.all<SqlAttempt>(select, sequence, subscription).map(attemptOf)
}

/** The decision about each subscription when the run ended, by subscription number. */
export function listRunWebhooks(sql: Sql, sequence: number): RunDecision[] {
  const rows = sql.all<SqlDelivery>(`${selectDelivery} ${bySequence}`, sequence)
  const sent = (rows.length > 0 ? rows : sql.all<SqlDelivery>(`${selectFromFanOut} ${bySequence}`, sequence)).map(
    (row): RunDecision => ({ subscription: subscriptionOf(row), skipped: null, delivery: deliveryOf(sql, row) }),
  )
  const noted = sql.get<{ skipped: string }>('SELECT skipped FROM run_webhooks WHERE sequence = ?', sequence)
  const reasons = JSON.parse(noted?.skipped ?? '[]') as [number, SkipReason][]
  const skipped = reasons.flatMap(([number, reason]): RunDecision[] => {
    const subscription = sql.get<RunDecision['subscription']>(
      'SELECT number, id, url FROM subscriptions WHERE number = ?',
      number,
    )
    return subscription ? [{ subscription, skipped: reason, delivery: null }] : []
  })
  return [...sent, ...skipped].sort((one, other) => one.subscription.number - other.subscription.number)
}

/** Makes the next failed deliveries of a workflow due again, oldest first. */
export function resendFailed(sql: Sql, { workflowId, since, after, at, limit }: FailedDeliveries) {
  const workflow = sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ?', workflowId)?.number ?? -1
  const { sequence, subscription } = after ?? { sequence: since - 1, subscription: Number.MAX_SAFE_INTEGER }
  const keys = sql.all<DeliveryKey>(selectFailedAfter, workflow, sequence, subscription, limit)
  for (const key of keys) sql.run(updateFailed, at, key.sequence, key.subscription)
  return { keys, position: keys.length < limit ? null : keys.at(-1)! }
}

function expect(sql: Sql, key: DeliveryKey): DeliveryRow {
  return getDelivery(sql, key)!
}

type SqlDelivery = Omit<DeliveryRow, 'event' | 'state' | 'executionId' | 'version' | 'endedAt' | 'lastAttempt'> & {
  /** Null for the end of a run. */
  event: number | null
  state: number
  executionId: string | Uint8Array | null
  version: number | null
  endedAt: number | null
}

function deliveryOf(sql: Sql, row: SqlDelivery): Delivery & { lastAttempt: DeliveryAttempt | null } {
  const { sequence, subscription, include, attempts, attemptsBefore, dueAt } = row
  const select = `${selectAttempts} WHERE sequence = ? AND subscription = ? AND number = ?`
  const last = attempts === 0 ? undefined : sql.get<SqlAttempt>(select, sequence, subscription, attempts)
  return {
    ...{ sequence, subscription, include, attempts, attemptsBefore, dueAt },
    state: deliveryStates[row.state]!,
    lastAttempt: last ? attemptOf(last) : null,
  }
}

/** The entry or the event exists as long as the delivery: retention deletes them together. */
function runOf({ workflowId, subscriptionId, url, event, executionId, version, versionName, endedAt }: SqlDelivery) {
  return {
    event: runEvents[event ?? 0]!,
    ...{ workflowId, subscriptionId, url, versionName },
    version: version ?? 0,
    executionId: executionId === null ? '' : executionIdOf(executionId),
    endedAt: endedAt ?? 0,
  }
}

function subscriptionOf({ subscription, subscriptionId, url }: SqlDelivery): RunDecision['subscription'] {
  return { number: subscription, id: subscriptionId, url }
}

type SqlAttempt = Omit<DeliveryAttempt, 'failure'> & { code: string | null; message: string | null }

function attemptOf({ code, message, ...attempt }: SqlAttempt): DeliveryAttempt {
  return { ...attempt, failure: code === null ? null : ({ code, message } as DeliveryAttempt['failure']) }
}

const keyOf = ({ sequence, subscription }: DeliveryKey): DeliveryKey => ({ sequence, subscription })

const selectFrom = (deliveries: string) => `
  SELECT d.sequence, d.subscription, d.include, d.state, d.attempts, d.attempts_before AS attemptsBefore,
    d.due_at AS dueAt, s.id AS subscriptionId, s.url, f.id AS workflowId, e.kind AS event,
    coalesce(l.execution_id, e.execution_id) AS executionId, coalesce(l.ended_at, e.at) AS endedAt,
    coalesce(l.version, e.version) AS version, v.name AS versionName
  FROM ${deliveries} d CROSS JOIN subscriptions s ON s.number = d.subscription
    CROSS JOIN workflows f ON f.number = d.workflow
    LEFT JOIN logs l ON l.workspace = f.workspace AND l.sequence = d.sequence
    LEFT JOIN pause_events e ON e.sequence = d.sequence
    LEFT JOIN deployments v ON v.workflow = d.workflow AND v.version = coalesce(l.version, e.version)`
const selectDelivery = selectFrom('deliveries')
const selectFromFanOut = selectFrom(fanOutRecordsAsRows)
const byKey = 'WHERE d.sequence = ? AND d.subscription = ?'
const bySequence = 'WHERE d.sequence = ?'

const selectAttempts = `
  SELECT number, started_at AS startedAt, duration_ms AS durationMs, status, failure_code AS code,
    failure_message AS message, answer
  FROM delivery_attempts`

const selectOfWorkflow = `
  SELECT sequence, subscription, state FROM deliveries WHERE workflow = ? AND (sequence, subscription) < (?, ?)
  ORDER BY sequence DESC, subscription DESC LIMIT ?`

// The state is a literal, because only then does SQLite use the partial index.
const selectFailed = `
  SELECT sequence, subscription, state FROM deliveries
  WHERE workflow = ? AND state = 2 AND (sequence, subscription) < (?, ?)
  ORDER BY sequence DESC, subscription DESC LIMIT ?`
const selectFailedAfter = `
  SELECT sequence, subscription FROM deliveries
  WHERE workflow = ? AND state = 2 AND (sequence, subscription) > (?, ?) ORDER BY sequence, subscription LIMIT ?`

const updateFailed = `
  UPDATE deliveries SET state = 0, due_at = ?, attempts_before = attempts
  WHERE sequence = ? AND subscription = ? AND state = 2`

/** Maximum number of rows read for one page, and rows per query. */
const rowsMax = 20_000
const rowsPerRead = 500
