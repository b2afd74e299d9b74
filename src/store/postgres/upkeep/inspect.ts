import type { OutboxState, SchedulesState } from '../../inspection.ts'
import type { ProcessRow } from '../../process-store.ts'
import { parseAddress } from '../address.ts'
import { checkServer } from '../check-server.ts'
import { listProcesses } from '../cluster/processes.ts'
import { Database, type Sql } from '../connection.ts'
import { migrations, schemaVersionOf } from '../migrations/migrations.ts'
import { sealHeads } from '../tables/environment.ts'
import { listSealedDocuments, readDocument, sampleSealedDocuments } from '../tables/sealed-documents.ts'
import { countSealedOtherwise } from '../tables/sealed-values.ts'
import { measureDeliveries } from '../writes/deliveries.ts'

export type ServerInspection = {
  /** Such as `15.4`. */
  version: string
  /** The version of the schema, 0 when there is no installation, and the one that this program knows. */
  schemaVersion: number
  knownVersion: number
  /** The size of the database, with indexes. */
  bytes: number
  /** The time of one statement, in milliseconds. */
  roundTripMs: number
  /** By how many milliseconds this machine's clock is ahead of the server's. */
  clockAheadMs: number
  /** Undefined when there is no installation. */
  outbox: OutboxState | undefined
  schedules: SchedulesState | undefined
  /** The distinct first bytes of stored secrets, and some documents that contain secrets. */
  sealed: { heads: Uint8Array[]; documents: string[] }
  /** Those that serve the installation. */
  processes: ProcessRow[]
}

/**
 * Reads what `millrace doctor` reports about a server, and changes nothing. Throws like `openPostgresStore`.
 * `failedSince`: the sequence from which failed deliveries count.
 */
export async function inspectServer(
  url: string,
  { headBytes, failedSince }: { headBytes: number; failedSince: number },
): Promise<ServerInspection> {
  return await withDatabase(url, async (database) => {
    await checkServer(database)
    const schemaVersion = await schemaVersionOf(database)
    const isThere = schemaVersion > 0
    return {
      ...(await measureServer(database)),
      schemaVersion,
      knownVersion: migrations.length,
      processes: isThere ? await listProcesses(database) : [],
      sealed: {
        heads: isThere ? await sealHeads(database, headBytes) : [],
        documents: isThere ? await sampleSealedDocuments(database) : [],
      },
      outbox: isThere ? await inspectOutbox(database, failedSince) : undefined,
      schedules: isThere ? await database.get(selectSchedules) : undefined,
    }
  })
}

/** The stored values that do not begin with `head`, and the documents with secrets that are not `current`. */
export async function countOlderSeals(
  url: string,
  head: Uint8Array,
  isCurrent: (document: string) => boolean,
): Promise<number> {
  return await withDatabase(url, async (database) => {
    let older = await countSealedOtherwise(database, head)
    for (const place of await listSealedDocuments(database)) {
      if (!isCurrent((await readDocument(database, place)) ?? '')) older += 1
    }
    return older
  })
}

async function withDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = new Database({ address: parseAddress(url), connectionsMax: 1 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

async function inspectOutbox(sql: Sql, failedSince: number): Promise<OutboxState> {
  const rest = await sql.get<Omit<OutboxState, 'pending' | 'oldestDueAt'>>(selectOutbox, failedSince)
  return { ...(await measureDeliveries(sql)), ...rest! }
}

type Measured = Pick<ServerInspection, 'version' | 'bytes' | 'roundTripMs' | 'clockAheadMs'>

async function measureServer(sql: Sql): Promise<Measured> {
  const facts = await sql.get<{ version: string; bytes: number }>(selectFacts)
  const startedAt = performance.now()
  const before = Date.now()
  const clock = await sql.get<{ now: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now')
  const roundTripMs = performance.now() - startedAt
  return { ...facts!, roundTripMs, clockAheadMs: before + roundTripMs / 2 - clock!.now }
}

const selectOutbox = `
  SELECT (SELECT count(*) FROM millrace.deliveries WHERE state = 2 AND sequence >= $1) AS failed,
    count(*) AS webhooks, count(*) FILTER (WHERE s.secret = '') AS "withoutSecret"
  FROM millrace.subscriptions s JOIN millrace.workflows f ON f.number = s.workflow
  WHERE s.deleted_at IS NULL AND f.deleted_at IS NULL`

const selectSchedules = 'SELECT count(*) AS schedules, min(due_at) AS "dueAt" FROM millrace.schedules'

const selectFacts = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    pg_database_size(current_database()) AS bytes`
