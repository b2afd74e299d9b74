import { Database } from 'bun:sqlite'

/** What there is to say about the webhooks of an installation. Times are epoch milliseconds. */
export type OutboxState = {
  pending: number
  /** When the next attempt of the one that waits longest is due; null when nothing is pending. */
  oldestDueAt: number | null
  /** Deliveries that failed for good, of runs from a sequence on. */
  failed: number
  /** Webhooks of workflows that are there. */
  webhooks: number
  /** Of these, the ones whose secret is lost: nothing is delivered to them until it is set anew. */
  withoutSecret: number
}

/** Undefined for a database that cannot be read, or is none of ours: `inspectDatabase` says so. */
export function inspectOutbox(path: string, failedSince: number): OutboxState | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true, strict: true })
    return database.query<OutboxState, [number]>(select).get(failedSince) ?? undefined
  } catch {
    return undefined
  } finally {
    database?.close()
  }
}

const select = `
  SELECT (SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL) AS pending,
    (SELECT min(due_at) FROM deliveries WHERE due_at IS NOT NULL) AS oldestDueAt,
    (SELECT count(*) FROM deliveries WHERE state = 2 AND sequence >= ?) AS failed,
    count(*) AS webhooks, count(*) FILTER (WHERE s.secret = x'') AS withoutSecret
  FROM subscriptions s JOIN workflows f ON f.number = s.workflow
  WHERE s.deleted_at IS NULL AND f.deleted_at IS NULL`
