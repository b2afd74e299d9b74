import type { DeliveryKey } from '../../../domain/webhook/delivery.ts'
import type { Change } from '../../process-store.ts'
import { listOf, type Sql } from '../connection.ts'

/** Part of the transaction that changes the workflow. */
export async function noteWorkflowChange(sql: Sql, workflowId: string): Promise<void> {
  await sql.run(`${insert} VALUES ($1, 'workflow', $2)`, sql.owner, workflowId)
}

/** Part of the transaction in which this process changes deliveries that may be in another one's memory. */
export async function noteDeliveryChanges(sql: Sql, keys: readonly DeliveryKey[]): Promise<void> {
  if (keys.length === 0) return
  const ids = keys.map(({ sequence, subscription }) => `${sequence} ${subscription}`)
  await sql.run(`${insert} SELECT $1, 'delivery', id FROM unnest($2::text[]) id`, sql.owner, listOf(ids))
}

const insert = 'INSERT INTO millrace.changes (process, kind, id)'

/** For how long processes read a change again, in seconds: longer than its transaction may have taken to commit. */
export const changesKeptSeconds = 60

/** The leader calls it now and then. */
export async function deleteOldChanges(sql: Sql): Promise<void> {
  await sql.run(`DELETE FROM millrace.changes WHERE at < now() - make_interval(secs => $1)`, 10 * changesKeptSeconds)
}

/** A row as `checkIn` selects it. */
export type ChangeRow = { number: number; kind: string; id: string }

/** Tells which of the rows that were read are new. Rows become visible in any order. */
export class SeenChanges {
  #seen = new Set<number>()

  take(rows: readonly ChangeRow[]): Change[] {
    const before = this.#seen
    this.#seen = new Set(rows.map(({ number }) => number))
    return rows.filter(({ number }) => !before.has(number)).flatMap(changeOf)
  }
}

function changeOf({ kind, id }: ChangeRow): Change[] {
  if (kind === 'workflow') return [{ kind, workflowId: id }]
  const [sequence, subscription] = id.split(' ').map(Number)
  // A later version may note other kinds.
  if (kind !== 'delivery' || sequence === undefined || subscription === undefined) return []
  return [{ kind, key: { sequence, subscription } }]
}
