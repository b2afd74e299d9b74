import type { DeliveryKey } from '../../../domain/webhook/delivery.ts'
import { rowsOf, type Sql } from '../connection.ts'

/** Claims some of the pending deliveries whose process is gone. Returns their subscriptions. */
export async function adoptDeliveries(sql: Sql): Promise<number[]> {
  if (sql.owner === 0) return []
  const owners = await sql.all<{ owner: number }>(selectGone)
  const subscriptions = new Set<number>()
  for (const { owner } of owners) {
    const adopted = await sql.all<{ subscription: number }>(adopt, owner, sql.owner, adoptedAtOnce)
    for (const { subscription } of adopted) subscriptions.add(subscription)
  }
  return [...subscriptions]
}

/** Gives up the deliveries and the waiting jobs of this process: nobody has the number 0. */
export async function releaseWork(sql: Sql, attempting: readonly DeliveryKey[]): Promise<void> {
  if (sql.owner === 0) return
  const kept = attempting.map(({ sequence, subscription }) => ({ sequence, subscription }))
  await sql.run('UPDATE millrace.jobs SET owner = 0 WHERE owner = $1 AND state <> 1', sql.owner)
  await sql.run(
    `UPDATE millrace.deliveries SET owner = 0 WHERE owner = $1 AND due_at IS NOT NULL
       AND (sequence, subscription) NOT IN (
         SELECT sequence, subscription FROM json_to_recordset($2::text::json) AS r (sequence bigint, subscription integer)
       )`,
    sql.owner,
    rowsOf(kept),
  )
}

const adoptedAtOnce = 2_000

/** The distinct owners of pending deliveries, with one look at the index for each. Part of a `WITH RECURSIVE`. */
export const deliveryOwners = `owners (owner) AS (
    (SELECT owner FROM millrace.deliveries WHERE due_at IS NOT NULL ORDER BY owner LIMIT 1)
    UNION ALL
    SELECT (SELECT d.owner FROM millrace.deliveries d WHERE d.due_at IS NOT NULL AND d.owner > o.owner
            ORDER BY d.owner LIMIT 1)
    FROM owners o WHERE o.owner IS NOT NULL
  )`

const selectGone = `
  WITH RECURSIVE ${deliveryOwners}
  SELECT owner FROM owners
  WHERE owner IS NOT NULL AND owner NOT IN (SELECT number FROM millrace.processes)`

// Several processes share what one leaves: each skips what another is claiming.
const adopt = `
  WITH adopted AS (
    UPDATE millrace.deliveries SET owner = $2
    WHERE (sequence, subscription) IN (
      SELECT sequence, subscription FROM millrace.deliveries WHERE owner = $1 AND due_at IS NOT NULL
      ORDER BY subscription, due_at, sequence LIMIT $3 FOR UPDATE SKIP LOCKED
    )
    RETURNING subscription
  )
  SELECT DISTINCT subscription FROM adopted`
