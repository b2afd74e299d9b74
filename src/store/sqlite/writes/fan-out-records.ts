import type { RunWebhooks } from '../../../domain/run/log.ts'
import type { DeliveryKey, DueDelivery, EndedAttempt } from '../../../domain/webhook/delivery.ts'
import { stateNumbers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { insertAttempt, insertDeliveries, type NewDelivery } from './delivery-rows.ts'

// A run that has just ended has the same pending deliveries for all its recipients. With two or more recipients it gets
// one small row, a fan-out record (table `owing_runs`), that stands for all of them: a row per delivery, in three
// indexes, took as long for five recipients as everything else in the run's commit. As soon as one of the deliveries
// changes, the record is split into delivery rows. So a run is in `owing_runs` or in `deliveries`, never in both.
// Recipient sets are in `audiences`.

/** Numbers of recipient sets. Used for one transaction only: a set that it creates may be rolled back with it. */
export class RecipientSets {
  readonly #sql: Sql
  readonly #known = new Map<RunWebhooks['deliveries'], number>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Creates the set when it does not exist. */
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
 * Replaces fan-out records by delivery rows, and records the first attempt of each delivery that has one in `attempts`.
 * Returns the attempts that it has recorded. Skips runs without a fan-out record.
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
    const recipients = members.get(audience) ?? membersOf(sql, audience)
    members.set(audience, recipients)
    const rows = recipients.map(([subscription, include]): NewDelivery => {
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

/** Subscriptions that are recipients of a fan-out record. */
export function fanOutSubscriptions(sql: Sql): number[] {
  const found: number[] = []
  for (let audience = 0; ; ) {
    const next = sql.get<{ audience: number }>(selectNextAudience, audience)
    if (!next) return found
    audience = next.audience
    found.push(...membersOf(sql, audience).map(([subscription]) => subscription))
  }
}

/**
 * Pending deliveries in fan-out records to a subscription, after a position; in order of due time for each recipient
 * set.
 */
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

/** Whether a range of entries contains a fan-out record. */
export function hasFanOutRecords(sql: Sql, first: number, last: number): boolean {
  return sql.get('SELECT 1 FROM owing_runs WHERE sequence BETWEEN ? AND ? LIMIT 1', first, last) !== undefined
}

/** Deliveries in fan-out records of a workflow, before a key, newest first. */
export function fanOutDeliveriesOf(
  sql: Sql,
  workflow: number,
  { sequence, subscription }: DeliveryKey,
  limit: number,
): (DeliveryKey & { state: number })[] {
  return sql.all(selectOfWorkflow, workflow, sequence, sequence, subscription, limit)
}

/** The number of pending deliveries, and when the first is due. */
export type PendingCount = { pending: number; oldestDueAt: number | null }

/** Counts delivery rows only. */
export const countDeliveryRows =
  'SELECT count(*) AS pending, min(due_at) AS oldestDueAt FROM deliveries WHERE due_at IS NOT NULL'

/** Counts delivery rows and fan-out records. */
export const countPending = `
  SELECT sum(pending) AS pending, min(oldestDueAt) AS oldestDueAt FROM (
    ${countDeliveryRows}
    UNION ALL
    SELECT coalesce(sum(runs * (SELECT count(*) FROM audience_members m WHERE m.audience = g.audience)), 0), min(oldest)
    FROM (SELECT audience, count(*) AS runs, min(due_at) AS oldest FROM owing_runs GROUP BY audience) g)`

/** The deliveries of fan-out records in the shape of delivery rows. */
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
