import type { RunWebhooks } from '../../../domain/run/log.ts'
import type {
  DeliveryKey,
  DeliverySource,
  DueDelivery,
  EndedAttempt,
  RunSource,
} from '../../../domain/webhook/delivery.ts'
import { include } from '../../../domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../../delivery-store.ts'
import { stateNumbers } from '../../stored-values.ts'
import { readFirings } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import type { Long } from '../logs/chunk.ts'
import { LongWalk } from '../logs/long-texts.ts'
import { factColumns, factsOf, type SqlFacts } from '../tables/rows.ts'
import { RunFilesFinder } from '../tables/run-files.ts'
import { insertAttempt, insertDeliveries } from './delivery-rows.ts'
import {
  countPending,
  fanOutSubscriptions,
  hasFanOutRecords,
  insertFanOutRecord,
  nextFanOutDeliveries,
  type PendingCount,
  type RecipientSets,
  splitFanOutRecords,
} from './fan-out-records.ts'
import { readPauseEvents } from './pause-events.ts'

// The outbox for runs and the dispatcher. The lists for the dashboard and the API are in delivery-lists.ts.

/** Part of the transaction that records the run. The deliveries are due at once. */
export function insertWebhooks(
  sql: Sql,
  recipientSets: RecipientSets,
  workflow: number,
  sequence: number,
  { deliveries, skipped, facts }: RunWebhooks,
  at: number,
): void {
  // A fan-out record for one delivery is not worthwhile: splitting it costs 3.6 µs more than the delivery row (5.8 µs).
  const [only] = deliveries.length === 1 ? deliveries : []
  if (only)
    insertDeliveries(sql, sequence, workflow, [{ ...only, state: stateNumbers.pending, attempts: 0, dueAt: at }])
  else if (deliveries.length > 0) insertFanOutRecord(sql, sequence, workflow, recipientSets.numberOf(deliveries), at)
  if (skipped.length === 0 && facts === null) return
  const decisions = skipped.map(({ subscription, reason }) => [subscription, reason])
  sql.run(
    'INSERT INTO run_webhooks (sequence, skipped, facts) VALUES (?, ?, ?)',
    sequence,
    JSON.stringify(decisions),
    facts,
  )
}

export function endAttempts(sql: Sql, attempts: readonly EndedAttempt[]): void {
  const sequences = [...new Set(attempts.map(({ delivery }) => delivery.sequence))]
  const written = splitFanOutRecords(sql, sequences, attempts)
  for (const attempt of attempts) if (!written.has(attempt)) endAttempt(sql, attempt)
}

function endAttempt(sql: Sql, ended: EndedAttempt): void {
  const { delivery, attempt, outcome } = ended
  const { sequence, subscription } = delivery
  const state = stateNumbers[outcome.state]
  if (sql.run(updateDelivery, attempt.number, state, outcome.dueAt, sequence, subscription) === 0) return
  insertAttempt(sql, ended)
}

/** Subscriptions with pending deliveries. Goes from one subscription to the next, however many deliveries each has. */
export function pendingSubscriptions(sql: Sql): number[] {
  const found = new Set(fanOutSubscriptions(sql))
  for (let last = 0; ; ) {
    const next = sql.get<{ subscription: number }>(selectNextSubscription, last)
    if (!next) return [...found].sort((one, other) => one - other)
    last = next.subscription
    found.add(last)
  }
}

/** Reads the indexes of pending deliveries: 20 ms for a million. */
export function measureDeliveries(sql: Sql): PendingCount {
  return sql.get<PendingCount>(countPending)!
}

/** Pending deliveries of a subscription after `after`, in order of due time. */
export function nextDeliveries(
  sql: Sql,
  subscription: number,
  after: { dueAt: number; sequence: number } | null,
  limit: number,
): DueDelivery[] {
  const { dueAt, sequence } = after ?? { dueAt: -1, sequence: -1 }
  const rows = sql.all<DueDelivery>(selectNext, subscription, dueAt, sequence, limit)
  const fanOut = nextFanOutDeliveries(sql, subscription, dueAt, sequence, limit)
  if (fanOut.length === 0) return rows
  return rows
    .concat(fanOut)
    .sort((one, other) => one.dueAt - other.dueAt || one.sequence - other.sequence)
    .slice(0, limit)
}

/** The contents of webhook bodies, in order of sequence. Omits entries and events that were deleted. */
export function readDeliveries(sql: Sql, needs: readonly DeliveryNeed[]): DeliverySource[] {
  const longs = new LongWalk(sql)
  const sources: DeliverySource[] = []
  let found: Found[] = []
  const others: number[] = []
  let chars = 0
  for (const need of needs.toSorted((one, other) => one.sequence - other.sequence)) {
    const long = longs.find(need.sequence)
    if (!long) {
      others.push(need.sequence)
      continue
    }
    found.push({ need, long })
    chars += long.finalOutput.length + long.traceSpans.length
    if (chars < foundCharsMax) continue
    sources.push(...sourcesIn(sql, found))
    found = []
    chars = 0
  }
  const runs = sources.concat(sourcesIn(sql, found))
  const events = [...readPauseEvents(sql, others), ...readFirings(sql, others)]
  return events.length === 0 ? runs : [...runs, ...events].sort((one, other) => one.sequence - other.sequence)
}

/** The same for entries whose long texts are in memory. */
function sourcesIn(sql: Sql, found: readonly Found[]): RunSource[] {
  const workspaces = new Set(found.map(({ long }) => long.workspace))
  if (workspaces.size === 1) return sourcesOf(sql, found[0]!.long.workspace, found)
  return [...workspaces]
    .flatMap((workspace) =>
      sourcesOf(
        sql,
        workspace,
        found.filter(({ long }) => long.workspace === workspace),
      ),
    )
    .sort((one, other) => one.sequence - other.sequence)
}

type Found = { need: DeliveryNeed; long: Long }

/** Reads the entries of one workspace, in order, with one query. */
function sourcesOf(sql: Sql, workspace: number, found: readonly Found[]): RunSource[] {
  const files = new RunFilesFinder(sql, workspace, 'asc')
  const sequences = JSON.stringify(found.map(({ need }) => need.sequence))
  const rows = sql.all<SqlFacts & { workflowId: string }>(selectFacts, sequences, workspace)
  let at = 0
  return rows.map((row) => {
    while (found[at]!.need.sequence < row.sequence) at += 1
    const { need, long } = found[at++]!
    return sourceOf(sql, row, need.include, long, files.find(row.sequence) ?? null)
  })
}

function sourceOf(
  sql: Sql,
  row: SqlFacts & { workflowId: string },
  bits: number,
  { cost, finalOutput, traceSpans }: Long,
  files: string | null,
): RunSource {
  const { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs, pausedMs } = factsOf(
    row,
    row.workflowId,
  )
  const facts = { sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs, pausedMs }
  // A copy, because a slice would keep the whole entry's text in memory.
  const ownCost = cost === null ? null : Buffer.from(cost).toString()
  const source: RunSource = { ...facts, cost: ownCost, files, facts: null }
  if (bits & include.finalOutput) source.finalOutput = finalOutput
  if (bits & include.traceSpans) source.traceSpans = traceSpans
  if (bits & (include.rateLimits | include.usage)) source.facts = readFacts(sql, sequence)
  return source
}

function readFacts(sql: Sql, sequence: number): string | null {
  return sql.get<{ facts: string | null }>('SELECT facts FROM run_webhooks WHERE sequence = ?', sequence)?.facts ?? null
}

/** Whether an entry in a range has a pending delivery. */
export function hasPending(sql: Sql, first: number, last: number): boolean {
  return hasFanOutRecords(sql, first, last) || sql.get(selectPending, first, last) !== undefined
}

/** Makes a delivery due now, with a full set of attempts. A pending delivery keeps the attempts it has left. */
export function sendAgain(sql: Sql, { sequence, subscription }: DeliveryKey, at: number): boolean {
  splitFanOutRecords(sql, [sequence])
  return sql.run(updateToPending, at, sequence, subscription) > 0
}

export function cancelDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): boolean {
  splitFanOutRecords(sql, [sequence])
  const cancel = 'UPDATE deliveries SET state = 3, due_at = NULL WHERE sequence = ? AND subscription = ? AND state = 0'
  return sql.run(cancel, sequence, subscription) > 0
}

/** Deletes the deliveries of a range of entries. */
export const retainDeliveries: readonly string[] = [
  'DELETE FROM delivery_attempts WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM deliveries WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM owing_runs WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM run_webhooks WHERE sequence BETWEEN ? AND ?',
]

/** Characters of entries in memory at once, whichever parts are requested. */
const foundCharsMax = 1_048_576

/** An attempt in progress when its delivery was cancelled counts if it succeeded; otherwise it is only listed. */
const updateDelivery = `
  UPDATE deliveries SET attempts = ?1, state = iif(state = 0 OR ?2 = 1, ?2, state), due_at = iif(state = 0, ?3, NULL)
  WHERE sequence = ?4 AND subscription = ?5`

const selectNextSubscription = `
  SELECT subscription FROM deliveries INDEXED BY deliveries_due
  WHERE due_at IS NOT NULL AND subscription > ? ORDER BY subscription LIMIT 1`

const selectNext = `
  SELECT sequence, subscription, include, attempts, attempts_before AS attemptsBefore, due_at AS dueAt FROM deliveries
  WHERE subscription = ? AND due_at IS NOT NULL AND (due_at, sequence) > (?, ?) ORDER BY due_at, sequence LIMIT ?`

// CROSS JOIN makes SQLite read the tables in this order, which keeps the order of the sequences.
const selectFacts = `
  SELECT ${factColumns}, f.id AS workflowId FROM json_each(?) wanted
    CROSS JOIN logs l ON l.workspace = ? AND l.sequence = wanted.value CROSS JOIN workflows f ON f.number = l.workflow`

const selectPending = 'SELECT 1 FROM deliveries WHERE sequence BETWEEN ? AND ? AND state = 0 LIMIT 1'

const updateToPending = `
  UPDATE deliveries SET attempts_before = iif(state = 0, attempts_before, attempts), state = 0, due_at = ?
  WHERE sequence = ? AND subscription = ?`
