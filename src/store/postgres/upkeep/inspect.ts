import type { ProcessRow } from '../../process-store.ts'
import { parseAddress } from '../address.ts'
import { checkServer } from '../check-server.ts'
import { listProcesses } from '../cluster/processes.ts'
import { Database, type Sql } from '../connection.ts'
import { migrations, schemaVersionOf } from '../migrations/migrations.ts'
import { sealHeads } from '../tables/environment.ts'
import { sampleSealedDocuments } from '../tables/sealed-documents.ts'

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
  /** The distinct first bytes of stored secrets, and some documents that contain secrets. */
  sealed: { heads: Uint8Array[]; documents: string[] }
  /** Those that serve the installation. */
  processes: ProcessRow[]
}

/** Reads what `millrace doctor` reports about a server, and changes nothing. Throws like `openPostgresStore`. */
export async function inspectServer(url: string, headBytes: number): Promise<ServerInspection> {
  const database = new Database({ address: parseAddress(url), connectionsMax: 1 })
  try {
    await checkServer(database)
    const schemaVersion = await schemaVersionOf(database)
    return {
      ...(await measureServer(database)),
      schemaVersion,
      knownVersion: migrations.length,
      processes: schemaVersion === 0 ? [] : await listProcesses(database),
      sealed:
        schemaVersion === 0
          ? { heads: [], documents: [] }
          : { heads: await sealHeads(database, headBytes), documents: await sampleSealedDocuments(database) },
    }
  } finally {
    await database.close()
  }
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

const selectFacts = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
    pg_database_size(current_database()) AS bytes`
