import { Database } from 'bun:sqlite'
import type { OutboxState } from '../../inspection.ts'
import { countDeliveryRows, countPending, type PendingCount } from '../writes/fan-out-records.ts'

/** Undefined for a database that cannot be read or is not ours (`inspectDatabase` reports that). */
export function inspectOutbox(path: string, failedSince: number): OutboxState | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    // Before the first start after an update the database may have no table of fan-out records.
    const isOlder = database.query(findFanOutTable).get() === null
    const pending = database.query<PendingCount, []>(isOlder ? countDeliveryRows : countPending).get()!
    const rest = database.query<Omit<OutboxState, keyof PendingCount>, [number]>(select).get(failedSince)!
    return { ...pending, ...rest }
  } catch {
    return undefined
  } finally {
    database?.close()
  }
}

const findFanOutTable = "SELECT 1 FROM sqlite_schema WHERE name = 'owing_runs'"

const select = `
  SELECT (SELECT count(*) FROM deliveries WHERE state = 2 AND sequence >= ?) AS failed,
    count(*) AS webhooks, count(*) FILTER (WHERE s.secret = x'') AS withoutSecret
  FROM subscriptions s JOIN workflows f ON f.number = s.workflow
  WHERE s.deleted_at IS NULL AND f.deleted_at IS NULL`
