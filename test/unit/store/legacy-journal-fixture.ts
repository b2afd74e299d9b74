import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { unpackTar } from 'modern-tar'

/** The runs that the process which created the fixture had acknowledged. */
export type Acknowledged = {
  workspaceId: string
  /** How many of the runs are in the database. The others are only in the journal. */
  inDatabase: number
  /** Synchronous runs, in the order in which they ended. */
  executionIds: readonly string[]
  /** Asynchronous runs that had not ended. A step of each is in the journal only. */
  jobs: readonly string[]
}

/** The data directory of an earlier version, killed while the last runs were in its journal only. */
export async function unpackLegacyJournal(directory: string): Promise<Acknowledged> {
  const archive = readFileSync(join(import.meta.dir, '../../support/fixtures/legacy-journal.tar.gz'))
  const entries = await unpackTar(gunzipSync(archive))
  for (const { header, data } of entries) {
    if (header.type === 'file') writeFileSync(join(directory, header.name), data ?? '', { mode: 0o600 })
  }
  return JSON.parse(readFileSync(join(directory, 'acknowledged.json'), 'utf8')) as Acknowledged
}
