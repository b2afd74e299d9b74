import type { DeliveryKey, DeliverySource, DueDelivery, EndedAttempt } from '../../domain/delivery.ts'
import type { RunWebhooks } from '../../domain/log.ts'
import { include } from '../../domain/webhook.ts'
import type { DeliveryNeed } from '../store.ts'
import type { Long } from './chunk.ts'
import type { Sql } from './connection.ts'
import { LongWalk } from './long-texts.ts'
import { factColumns, factsOf, type SqlFacts } from './rows.ts'
import { RunFilesFinder } from './run-files.ts'

// The outbox as the runs and the dispatcher use it. What people ask of it is in delivery-lists.ts.

/** In the transaction that records the run: due at once. */
export function insertWebhooks(
  sql: Sql,
  workflow: number,
  sequence: number,
  { deliveries, skipped, facts }: RunWebhooks,
  at: number,
): void {
  for (let from = 0; from < deliveries.length; from += insertedAtOnce) {
    const some = deliveries.slice(from, from + insertedAtOnce)
    const values = some.flatMap(({ subscription, include }) => [subscription, include])
    sql.run(insertDeliveries[some.length - 1]!, sequence, workflow, at, ...values)
  }
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
  for (const attempt of attempts) endAttempt(sql, attempt)
}

function endAttempt(sql: Sql, { delivery: { sequence, subscription }, attempt, outcome }: EndedAttempt): void {
  const { number, startedAt, durationMs, status, failure, answer } = attempt
  const state = stateNumbers[outcome.state]
  if (sql.run(updateDelivery, number, state, outcome.dueAt, sequence, subscription) === 0) return
  sql.run(
    insertAttempt,
    sequence,
    subscription,
    number,
    startedAt,
    durationMs,
    status,
    failure?.code ?? null,
    failure?.message ?? null,
    answer,
  )
}

/** Subscriptions with pending deliveries: from each to the next one, however many it has. */
export function pendingSubscriptions(sql: Sql): number[] {
  const found: number[] = []
  for (;;) {
    const next = sql.get<{ subscription: number }>(selectNextSubscription, found.at(-1) ?? 0)
    if (!next) return found
    found.push(next.subscription)
  }
}

/** A walk through the index of what is due: 20 ms for a million. */
export function measureDeliveries(sql: Sql): { pending: number; oldestDueAt: number | null } {
  return sql.get<{ pending: number; oldestDueAt: number | null }>(
    'SELECT count(*) AS pending, min(due_at) AS oldestDueAt FROM deliveries WHERE due_at IS NOT NULL',
  )!
}

/** Pending ones of a subscription behind `after`, in the order in which they are due. */
export function nextDeliveries(
  sql: Sql,
  subscription: number,
  after: { dueAt: number; sequence: number } | null,
  limit: number,
): DueDelivery[] {
  return sql.all<DueDelivery>(selectNext, subscription, after?.dueAt ?? -1, after?.sequence ?? -1, limit)
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
  return sql.get(selectPending, first, last) !== undefined
}

/** Due again, now, with as many attempts as at first. Those of a pending one are not counted anew. */
export function sendAgain(sql: Sql, { sequence, subscription }: DeliveryKey, at: number): boolean {
  return sql.run(updateToPending, at, sequence, subscription) > 0
}

export function cancelDelivery(sql: Sql, { sequence, subscription }: DeliveryKey): boolean {
  const cancel = 'UPDATE deliveries SET state = 3, due_at = NULL WHERE sequence = ? AND subscription = ? AND state = 0'
  return sql.run(cancel, sequence, subscription) > 0
}

/** What goes with a range of entries. */
export const retainDeliveries: readonly string[] = [
  'DELETE FROM delivery_attempts WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM deliveries WHERE sequence BETWEEN ? AND ?',
  'DELETE FROM run_webhooks WHERE sequence BETWEEN ? AND ?',
]

/** Characters of entries in memory at once, whatever of them is asked for. */
const foundCharsMax = 1_048_576

// The numbers on disk: only ever append.
export const stateNumbers = { pending: 0, delivered: 1, failed: 2, cancelled: 3 } as const

/** As many as a workflow has webhooks. */
const insertedAtOnce = 20

/** For one delivery, two, and so on, of a run: five by one statement, and its log entry, take 30 µs, by five 42. */
const insertDeliveries = Array.from({ length: insertedAtOnce }, (_, index) => {
  const rows = Array.from({ length: index + 1 }, (_, row) => `(?1, ?${4 + 2 * row}, ?2, ?${5 + 2 * row}, 0, 0, 0, ?3)`)
  return `
    INSERT INTO deliveries (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at)
    VALUES ${rows.join(', ')}`
})

/** An attempt that was under way when its delivery was cancelled counts when it succeeded, and else for the list only. */
const updateDelivery = `
  UPDATE deliveries SET attempts = ?1, state = iif(state = 0 OR ?2 = 1, ?2, state), due_at = iif(state = 0, ?3, NULL)
  WHERE sequence = ?4 AND subscription = ?5`

const insertAttempt = `
  INSERT INTO delivery_attempts (sequence, subscription, number, started_at, duration_ms, status, failure_code,
    failure_message, answer)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

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
