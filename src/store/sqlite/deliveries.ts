import type { DeliveryKey, DeliverySource, DueDelivery, EndedAttempt } from '../../domain/delivery.ts'
import type { RunWebhooks } from '../../domain/log.ts'
import { include } from '../../domain/webhook.ts'
import type { DeliveryNeed } from '../store.ts'
import type { Long } from './chunk.ts'
import type { Sql } from './connection.ts'
import { insertAttempt, insertDeliveries, stateNumbers } from './delivery-rows.ts'
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
import { LongWalk } from './long-texts.ts'
import { factColumns, factsOf, type SqlFacts } from './rows.ts'
import { RunFilesFinder } from './run-files.ts'

// The outbox as the runs and the dispatcher use it. What people ask of it is in delivery-lists.ts.

/** In the transaction that records the run: due at once. */
export function insertWebhooks(
  sql: Sql,
  recipientSets: RecipientSets,
  workflow: number,
  sequence: number,
  { deliveries, skipped, facts }: RunWebhooks,
  at: number,
): void {
  // To stand for one delivery is not worth while: to take it apart later costs 3.6 µs more than its row, which costs 5.8 in all.
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

/** Subscriptions with pending deliveries: from each to the next one, however many it has. */
export function pendingSubscriptions(sql: Sql): number[] {
  const found = new Set(fanOutSubscriptions(sql))
  for (let last = 0; ; ) {
    const next = sql.get<{ subscription: number }>(selectNextSubscription, last)
    if (!next) return [...found].sort((one, other) => one - other)
    last = next.subscription
    found.add(last)
  }
}

/** A walk through the indexes of what is due: 20 ms for a million. */
export function measureDeliveries(sql: Sql): PendingCount {
  return sql.get<PendingCount>(countPending)!
}

/** Pending ones of a subscription behind `after`, in the order in which they are due. */
export function nextDeliveries(
  sql: Sql,
  subscription: number,
  after: { dueAt: number; sequence: number } | null,
  limit: number,
): DueDelivery[] {
  const { dueAt, sequence } = after ?? { dueAt: -1, sequence: -1 }
  const taken = sql.all<DueDelivery>(selectNext, subscription, dueAt, sequence, limit)
  const owed = nextFanOutDeliveries(sql, subscription, dueAt, sequence, limit)
  if (owed.length === 0) return taken
  return taken
    .concat(owed)
    .sort((one, other) => one.dueAt - other.dueAt || one.sequence - other.sequence)
    .slice(0, limit)
}

/** What bodies are made of, by rising sequence; entries that are gone are left out. */
export function readDeliveries(sql: Sql, needs: readonly DeliveryNeed[]): DeliverySource[] {
  const longs = new LongWalk(sql)
  const sources: DeliverySource[] = []
  let found: Found[] = []
  let chars = 0
  for (const need of needs.toSorted((one, other) => one.sequence - other.sequence)) {
    const long = longs.find(need.sequence)
    if (!long) continue
    found.push({ need, long })
    chars += long.finalOutput.length + long.traceSpans.length
    if (chars < foundCharsMax) continue
    sources.push(...sourcesIn(sql, found))
    found = []
    chars = 0
  }
  return sources.concat(sourcesIn(sql, found))
}

/** The same of entries whose long texts are in memory. */
function sourcesIn(sql: Sql, found: readonly Found[]): DeliverySource[] {
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

/** All that is known of entries of one workspace, in their order: one query, whatever lies between them. */
function sourcesOf(sql: Sql, workspace: number, found: readonly Found[]): DeliverySource[] {
  const files = new RunFilesFinder(sql, workspace, 'asc')
  const sequences = JSON.stringify(found.map(({ need }) => need.sequence))
  const rows = sql.all<SqlFacts & { workflow_id: string }>(selectFacts, sequences, workspace)
  let at = 0
  return rows.map((row) => {
    while (found[at]!.need.sequence < row.sequence) at += 1
    const { need, long } = found[at++]!
    return sourceOf(sql, row, need.include, long, files.find(row.sequence) ?? null)
  })
}

function sourceOf(
  sql: Sql,
  row: SqlFacts & { workflow_id: string },
  bits: number,
  { cost, finalOutput, traceSpans }: Long,
  files: string | null,
): DeliverySource {
  const { costTotal: _, ...facts } = factsOf(row, row.workflow_id)
  // A copy: a slice keeps the text of all the entry in memory.
  const ownCost = cost === null ? null : Buffer.from(cost).toString()
  const source: DeliverySource = { ...facts, cost: ownCost, files, facts: null }
  if (bits & include.finalOutput) source.finalOutput = finalOutput
  if (bits & include.traceSpans) source.traceSpans = traceSpans
  if (bits & (include.rateLimits | include.usage)) source.facts = readFacts(sql, row.sequence)
  return source
}

function readFacts(sql: Sql, sequence: number): string | null {
  return sql.get<{ facts: string | null }>('SELECT facts FROM run_webhooks WHERE sequence = ?', sequence)?.facts ?? null
}

/** Whether any of the entries of a range waits to be told of. */
export function hasPending(sql: Sql, first: number, last: number): boolean {
  return hasFanOutRecords(sql, first, last) || sql.get(selectPending, first, last) !== undefined
}

/** Due again, now, with as many attempts as at first. Those of a pending one are not counted anew. */
export function sendAgain(sql: Sql, { sequence, subscription }: DeliveryKey, at: number): boolean {
  splitFanOutRecords(sql, [sequence])
  return sql.run(updateToPending, at, sequence, subscription) > 0
}

export function cancelDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): boolean {
  splitFanOutRecords(sql, [sequence])
  const cancel = 'UPDATE deliveries SET state = 3, due_at = NULL WHERE sequence = ? AND subscription = ? AND state = 0'
  return sql.run(cancel, sequence, subscription) > 0
}

/** What goes with a range of entries. */
export const retainDeliveries: readonly string[] = [
  'DELETE FROM delivery_attempts WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM deliveries WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM owing_runs WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM run_webhooks WHERE sequence BETWEEN ? AND ?',
]

/** Characters of entries in memory at once, whatever of them is asked for. */
const foundCharsMax = 1_048_576

/** An attempt that was under way when its delivery was cancelled counts when it succeeded, and else for the list only. */
const updateDelivery = `
  UPDATE deliveries SET attempts = ?1, state = iif(state = 0 OR ?2 = 1, ?2, state), due_at = iif(state = 0, ?3, NULL)
  WHERE sequence = ?4 AND subscription = ?5`

const selectNextSubscription = `
  SELECT subscription FROM deliveries INDEXED BY deliveries_due
  WHERE due_at IS NOT NULL AND subscription > ? ORDER BY subscription LIMIT 1`

const selectNext = `
  SELECT sequence, subscription, include, attempts, attempts_before AS attemptsBefore, due_at AS dueAt FROM deliveries
  WHERE subscription = ? AND due_at IS NOT NULL AND (due_at, sequence) > (?, ?) ORDER BY due_at, sequence LIMIT ?`

// CROSS JOIN keeps the order of the tables, and so that of the sequences.
const selectFacts = `
  SELECT ${factColumns}, f.id AS workflow_id FROM json_each(?) wanted
    CROSS JOIN logs l ON l.workspace = ? AND l.sequence = wanted.value CROSS JOIN workflows f ON f.number = l.workflow`

const selectPending = 'SELECT 1 FROM deliveries WHERE sequence BETWEEN ? AND ? AND state = 0 LIMIT 1'

const updateToPending = `
  UPDATE deliveries SET attempts_before = iif(state = 0, attempts_before, attempts), state = 0, due_at = ?
  WHERE sequence = ? AND subscription = ?`
