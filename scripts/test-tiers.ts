import { availableParallelism } from 'node:os'

/**
 * The tiers, in the order in which they run; each is a folder below `test/`, except `postgres`.
 *
 * - `unit`: one part at a time, in the test's own process: starts no process and leaves the machine by no connection.
 * - `service`: the whole service, as the built executable or assembled on loopback, and whatever starts a process.
 * - `postgres`: the tests of `service` and of commands again, on PostgreSQL instead of SQLite.
 * - `ui`: the editor and the dashboard in Chromium.
 * - `faults`: killed processes, full and failing disks, power cuts.
 */
export const tierNames = ['unit', 'service', 'postgres', 'ui', 'faults'] as const
export type TierName = (typeof tierNames)[number]

export function isTierName(name: string): name is TierName {
  return (tierNames as readonly string[]).includes(name)
}

/** How many test files of a tier run at once. Chromium and a failing disk keep two cores busy by themselves. */
export function processesFor(tier: TierName): number {
  return { unit: availableParallelism(), service: 2, postgres: 2, ui: 1, faults: 1 }[tier]
}

/** The test files of a tier whose path contains one of the words; all of them when there are no words. */
export function testFiles(folder: string, tier: TierName, words: readonly string[]): string[] {
  const all = [...new Bun.Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: folder })].toSorted()
  const files = all.filter((file) => (tier === 'postgres' ? usesStore(file) : file.startsWith(`test/${tier}/`)))
  return words.length === 0 ? files : files.filter((file) => words.some((word) => file.includes(word)))
}

function usesStore(file: string): boolean {
  if (commandTests.includes(file)) return true
  return file.startsWith('test/service/') && !Object.keys(withoutStore).some((part) => file.includes(part))
}

/** Commands that work on the store itself. */
const commandTests = ['accounts', 'env', 'env-rotate', 'keys'].map((name) => `test/unit/cli/${name}.test.ts`)

/** The tests of `service` that do not run again on PostgreSQL, and why. */
const withoutStore: Readonly<Record<string, string>> = {
  'service/backup/': 'a backup is a copy of the SQLite database',
  'service/cli/backup-tar.test.ts': 'a backup is a copy of the SQLite database',
  'service/cli/doctor-folder.test.ts': 'it examines the files of the data folder',
  'service/cluster/': 'it starts a PostgreSQL server of its own',
  'service/docs/': 'the documentation describes an installation on SQLite',
  'service/executable/backup.test.ts': 'a backup is a copy of the SQLite database',
  'service/executable/form-files.test.ts': 'a backup is a copy of the SQLite database',
  'service/executable/lost-key-file.test.ts': 'with PostgreSQL, the key is a setting',
  'service/executable/mcp/restored.test.ts': 'a backup is a copy of the SQLite database',
  'service/executable/models.test.ts': 'no store takes part',
  'service/executable/paused-runs.test.ts': 'it starts a PostgreSQL server of its own',
  'service/executable/snippets.test.ts': 'it is about clients of the API',
  'service/executable/third-party-client.test.ts': 'it is about clients of the API',
  'service/executable/typed-client.test.ts': 'it is about clients of the API',
  'service/executable/watchdog.test.ts': 'no store takes part',
  'service/executable/webhook-retries.test.ts': 'a process loses its claims when its clock runs sixty times as fast',
  'service/outbound/': 'no store takes part',
  'service/peers/': 'it starts a PostgreSQL server of its own',
  'service/processes/': 'it is about files and processes',
  'service/sandbox/': 'no store takes part',
  'service/store/': 'it tests both stores, or starts a PostgreSQL server of its own',
}
