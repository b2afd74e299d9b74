import type { DeliveryKey, EndedAttempt } from '../../../domain/webhook/delivery.ts'
import type { Sql, Value } from '../connection.ts'

/** A new delivery row: pending, or in the state after its first attempt. */
export type NewDelivery = Pick<DeliveryKey, 'subscription'> & {
  include: number
  state: number
  attempts: number
  dueAt: number | null
}

/** Inserts the deliveries of one run. */
export function insertDeliveries(
  sql: Sql,
  sequence: number,
  workflow: number,
  deliveries: readonly NewDelivery[],
): void {
  for (let from = 0; from < deliveries.length; from += insertedAtOnce) {
    const some = deliveries.slice(from, from + insertedAtOnce)
    const values = some.flatMap(({ subscription, include, state, attempts, dueAt }): Value[] => [
      subscription,
      include,
      state,
      attempts,
      dueAt,
    ])
    sql.run(insertStatements[some.length - 1]!, sequence, workflow, ...values)
  }
}

export function insertAttempt(sql: Sql, { delivery: { sequence, subscription }, attempt }: EndedAttempt): void {
  const { number, startedAt, durationMs, status, failure, answer } = attempt
  sql.run(
    insertOneAttempt,
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

/** The most webhook subscriptions that a workflow can have. */
const insertedAtOnce = 20

/** One statement for each number of deliveries: five and the log entry take 30 µs with one statement, 42 with five. */
const insertStatements = Array.from({ length: insertedAtOnce }, (_, index) => {
  const rows = Array.from({ length: index + 1 }, (_, row) => {
    const first = 3 + 5 * row
    return `(?1, ?${first}, ?2, ?${first + 1}, ?${first + 2}, ?${first + 3}, 0, ?${first + 4})`
  })
  return `
    INSERT INTO deliveries (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at)
    VALUES ${rows.join(', ')}`
})

const insertOneAttempt = `
  INSERT INTO delivery_attempts (sequence, subscription, number, started_at, duration_ms, status, failure_code,
    failure_message, answer)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
