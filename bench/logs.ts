import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureExport } from './support/logs-export.ts'
import { measureQueries } from './support/logs-query.ts'
import { seed, seededIn } from './support/logs-seed.ts'
import { measureWriting } from './support/logs-write.ts'

/**
 * The log of a service with a long history: `bun bench/logs.ts <command> <folder> …`, with the built executable.
 * - `seed <folder> [entries] [share with spans]`: creates an installation with 10,000,000 entries.
 * - `query <folder> [requests of each kind]`: pages of 100 while 200 runs per second are recorded.
 * - `export <folder> [entries]`: 1,000,000 entries, 1,000 per page, while runs are recorded.
 * - `write <folder> [rounds] [ms]`: runs per second with this database and with an empty one.
 * - `all [entries]`: all of these in a temporary folder.
 */
const [command, folder, ...more] = process.argv.slice(2)
const number = (index: number, absent: number) => Number(more[index] ?? absent)
const entriesDefault = 10_000_000

if (command === 'seed' && folder) await seed(folder, number(0, entriesDefault), number(1, 0.1))
else if (command === 'query' && folder) await measureQueries(await seededIn(folder), number(0, 200))
else if (command === 'export' && folder) await measureExport(await seededIn(folder), number(0, 1_000_000))
else if (command === 'write' && folder) await measureWriting(await seededIn(folder), number(0, 5), number(1, 3_000))
else if (command === 'all') await everything(Number(folder ?? entriesDefault))
else {
  console.error('bun bench/logs.ts seed|query|export|write <folder> …, or all [entries]')
  process.exitCode = 2
}

async function everything(entries: number): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    const seeded = await seed(join(place, 'data'), entries)
    await measureQueries(seeded, 200)
    await measureExport(seeded, Math.min(entries, 1_000_000))
    await measureWriting(seeded, 5, 3_000)
  } finally {
    rmSync(place, { recursive: true })
  }
}
