import { Database } from 'bun:sqlite'
import { sequenceOf } from '../../src/domain/ids.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { ask, settings } from './logs-query.ts'
import type { Seeded } from './logs-seed.ts'
import { pacedLoad, residentMb, serveMillrace } from './service.ts'

const bar = 100_000

/**
 * How fast does a plain client read the log, oldest first, one page after the other, while runs are recorded? Checks
 * the result against the database: nothing missing and nothing twice, including entries that were added meanwhile.
 */
export async function measureExport(seeded: Seeded, entries: number): Promise<void> {
  const service = await serveMillrace(seeded, settings)
  let sequences: number[] = []
  try {
    const running = pacedLoad({
      url: `${service.url}/api/workflows/${seeded.workflows.busy}/execute`,
      headers: [`X-API-Key: ${service.apiKey}`],
      ...{ perSecond: 200, ms: 2_000 + entries / 50, body: '{"order":5}' },
    })
    for (const show of [{}, { details: 'full', includeFinalOutput: true, includeTraceSpans: true }]) {
      sequences = []
      let cursor: string | null = null
      const startedAt = performance.now()
      while (sequences.length < entries) {
        const query = { order: 'asc', limit: 1000, ...show, ...(cursor === null ? {} : { cursor }) }
        const { data, nextCursor } = await ask(service, query)
        for (const { id } of data) sequences.push(sequenceOf(id)!)
        if (nextCursor === null) break
        cursor = nextCursor
      }
      const seconds = (performance.now() - startedAt) / 1000
      const perSecond = Math.round(sequences.length / seconds)
      const what = 'details' in show ? 'everything of each' : 'list form'
      const verdict = 'details' in show || perSecond >= bar ? '' : `, fewer than ${bar}`
      console.log(
        `${sequences.length} entries in ${seconds.toFixed(1)} s, ${what}: ${perSecond} entries/s${verdict}; ` +
          `the service takes ${(await residentMb(service.pid)).toFixed(0)} MB`,
      )
      check(seeded, sequences)
    }
    const { requests, p99 } = await running
    console.log(`meanwhile ${requests} runs, p99 ${p99} ms`)
  } finally {
    await service.stop()
  }
}

/** Compares with the database, up to the last entry that was read. */
function check({ directory, workspaceId }: Seeded, sequences: readonly number[]): void {
  using database = new Database(databasePath(directory), { readonly: true })
  const recorded = database
    .query<{ sequence: number }, [string, number]>(
      'SELECT sequence FROM logs WHERE workspace = (SELECT number FROM workspaces WHERE id = ?) AND sequence <= ? ORDER BY sequence',
    )
    .all(workspaceId, sequences.at(-1) ?? 0)
  const isExact =
    recorded.length === sequences.length && recorded.every(({ sequence }, index) => sequence === sequences[index])
  if (!isExact) throw new Error(`${recorded.length} entries are on disk, ${sequences.length} were read, or others`)
}
