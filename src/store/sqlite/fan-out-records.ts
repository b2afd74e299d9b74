import type { DeliveryKey, DueDelivery, EndedAttempt } from '../../domain/delivery.ts'
import type { RunWebhooks } from '../../domain/log.ts'
import type { Sql } from './connection.ts'
import { insertAttempt, insertDeliveries, type NewDelivery, stateNumbers } from './delivery-rows.ts'

// A run that has just ended owes alike to all of its audience, of two or more: one small row. A row for each of five
// deliveries, in three orders, took as long as all else that the commit of the run does. Whatever becomes of a delivery takes
// its run apart: from then on each has a row of its own. So a run is in `owing_runs` or in `deliveries`, never in both.

/** Numbers of recipientSets, as far as one transaction needs them: what it has made may be rolled back with it. */
export class RecipientSets {
  readonly #sql: Sql
  readonly #known = new Map<RunWebhooks['deliveries'], number>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** It is made when it is first needed. */
  numberOf(deliveries: RunWebhooks['deliveries']): number {
    const known = this.#known.get(deliveries)
    if (known !== undefined) return known
    const number = this.#find(deliveries)
    this.#known.set(deliveries, number)
    return number
  }

  #find(deliveries: RunWebhooks['deliveries']): number {
    const members = JSON.stringify(deliveries.map(({ subscription, include }) => [subscription, include]))
    const known = this.#sql.get<{ number: number }>('SELECT number FROM audiences WHERE members = ?', members)
    if (known) return known.number
    const made = this.#sql.get<{ number: number }>(
      'INSERT INTO audiences (members) VALUES (?) RETURNING number',
      members,
    )!
    for (const { subscription, include } of deliveries) {
      this.#sql.run(insertMember, subscription, made.number, include)
    }
    return made.number
  }
}

export function insertFanOutRecord(
  sql: Sql,
  sequence: number,
  workflow: number,
  audience: number,
  dueAt: number,
): void {
  sql.run(
    'INSERT INTO owing_runs (sequence, workflow, audience, due_at) VALUES (?, ?, ?, ?)',
    sequence,
    workflow,
    audience,
    dueAt,
  )
}

/**
 * Gives the deliveries of runs rows of their own, those that were attempted as the first of `attempts` has left them.
 * Answers which of these are written down by that; runs that have been taken apart before, or are gone, are left alone.
 */
export function splitFanOutRecords(
  sql: Sql,
  sequences: readonly number[],
  attempts: readonly EndedAttempt[] = [],
): ReadonlySet<EndedAttempt> {
  const written = new Set<EndedAttempt>()
  const wanted = JSON.stringify(sequences)
  const runs = sql.all<FanOutRecord>(selectFanOutRecords, wanted)
  if (runs.length === 0) return written
  const firsts = firstOfEach(attempts)
  const members = new Map<number, Member[]>()
  for (const { sequence, workflow, audience, dueAt } of runs) {
    const told = members.get(audience) ?? membersOf(sql, audience)
    members.set(audience, told)
    const rows = told.map(([subscription, include]): NewDelivery => {
      const ended = firsts.get(sequence)?.get(subscription)
      if (!ended) return { subscription, include, state: stateNumbers.pending, attempts: 0, dueAt }
      written.add(ended)
      const { attempt, outcome } = ended
      return {
        subscription,
        include,
        state: stateNumbers[outcome.state],
        attempts: attempt.number,
        dueAt: outcome.dueAt,
      }
    })
    insertDeliveries(sql, sequence, workflow, rows)
  }
  for (const ended of written) insertAttempt(sql, ended)
  sql.run('DELETE FROM owing_runs WHERE sequence IN (SELECT value FROM json_each(?))', wanted)
  return written
}

/** Subscriptions that such runs owe to. */
export function fanOutSubscriptions(sql: Sql): number[] {
  const found: number[] = []
  for (let audience = 0; ; ) {
    const next = sql.get<{ audience: number }>(selectNextAudience, audience)
    if (!next) return found
    audience = next.audience
    found.push(...membersOf(sql, audience).map(([subscription]) => subscription))
  }
}

/** What such runs owe to a subscription behind a position, in the order in which it is due, from each of its recipientSets. */
export function nextFanOutDeliveries(
  sql: Sql,
  subscription: number,
  dueAt: number,
  sequence: number,
  limit: number,
): DueDelivery[] {
  const recipientSets = sql.all<{ audience: number; include: number }>(selectAudiences, subscription)
  return recipientSets.flatMap(({ audience, include }) =>
    sql.all<DueDelivery>(selectNext, subscription, include, audience, dueAt, sequence, limit),
  )
}

/** Whether a run of a range of entries owes all that it ever did. */
export function hasFanOutRecords(sql: Sql, first: number, last: number): boolean {
  return sql.get('SELECT 1 FROM owing_runs WHERE sequence BETWEEN ? AND ? LIMIT 1', first, last) !== undefined
}

/** Deliveries of such runs of a workflow in front of a key, the newest first. */
export function fanOutDeliveriesOf(
  sql: Sql,
  workflow: number,
  { sequence, subscription }: DeliveryKey,
  limit: number,
): (DeliveryKey & { state: number })[] {
  return sql.all(selectOfWorkflow, workflow, sequence, sequence, subscription, limit)
}

/** How many deliveries pend, and when the first of them is due. */
export type PendingCount = { pending: number; oldestDueAt: number | null }

/** Of those with rows. */
export const countDeliveryRows =
  'SELECT count(*) AS pending, min(due_at) AS oldestDueAt FROM deliveries WHERE due_at IS NOT NULL'

/** Of all. */
export const countPending = `
  SELECT sum(pending) AS pending, min(oldestDueAt) AS oldestDueAt FROM (
    ${countDeliveryRows}
    UNION ALL
    SELECT coalesce(sum(runs * (SELECT count(*) FROM audience_members m WHERE m.audience = g.audience)), 0), min(oldest)
    FROM (SELECT audience, count(*) AS runs, min(due_at) AS oldest FROM owing_runs GROUP BY audience) g)`

/** Such deliveries as if they had rows, for whoever reads those. */
export const fanOutRecordsAsRows = `(
  SELECT o.sequence, m.subscription, o.workflow, m.include, 0 AS state, 0 AS attempts, 0 AS attempts_before, o.due_at
  FROM owing_runs o CROSS JOIN audience_members m ON m.audience = o.audience)`

type FanOutRecord = { sequence: number; workflow: number; audience: number; dueAt: number }
type Member = [subscription: number, include: number]

function membersOf(sql: Sql, audience: number): Member[] {
  const { members } = sql.get<{ members: string }>('SELECT members FROM audiences WHERE number = ?', audience)!
  return JSON.parse(members) as Member[]
}

function firstOfEach(attempts: readonly EndedAttempt[]): ReadonlyMap<number, ReadonlyMap<number, EndedAttempt>> {
  const firsts = new Map<number, Map<number, EndedAttempt>>()
  for (const ended of attempts) {
    const { sequence, subscription } = ended.delivery
    const ofRun = firsts.get(sequence) ?? new Map<number, EndedAttempt>()
    if (!ofRun.has(subscription)) ofRun.set(subscription, ended)
    firsts.set(sequence, ofRun)
  }
  return firsts
}

const insertMember = 'INSERT INTO audience_members (subscription, audience, include) VALUES (?, ?, ?)'

const selectFanOutRecords = `
  SELECT o.sequence, o.workflow, o.audience, o.due_at AS dueAt
  FROM json_each(?) wanted CROSS JOIN owing_runs o ON o.sequence = wanted.value`

const selectNextAudience = 'SELECT audience FROM owing_runs WHERE audience > ? ORDER BY audience LIMIT 1'

const selectAudiences = 'SELECT audience, include FROM audience_members WHERE subscription = ?'

const selectNext = `
  SELECT sequence, ? AS subscription, ? AS include, 0 AS attempts, 0 AS attemptsBefore, due_at AS dueAt FROM owing_runs
  WHERE audience = ? AND (due_at, sequence) > (?, ?) ORDER BY due_at, sequence LIMIT ?`

const selectOfWorkflow = `
  SELECT o.sequence, m.subscription, 0 AS state
  FROM owing_runs o INDEXED BY owing_runs_by_workflow CROSS JOIN audience_members m ON m.audience = o.audience
  WHERE o.workflow = ? AND o.sequence <= ? AND (o.sequence, m.subscription) < (?, ?)
  ORDER BY o.sequence DESC, m.subscription DESC LIMIT ?`
