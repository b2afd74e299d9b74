import { availableParallelism } from 'node:os'

/**
 * The tiers, in the order in which they run; each is a folder below `test/`, except `postgres`.
 *
 * - `unit`: one part at a time, in the test's own process: starts no process and leaves the machine by no connection.
 * - `service`: the whole service, as the built executable or assembled on loopback, and whatever starts a process.
 * - `postgres`: the tests of `service` again, on PostgreSQL instead of SQLite.
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
  const inner = tier === 'postgres' ? 'service' : tier
  const all = [...new Bun.Glob(`test/${inner}/**/*.test.{ts,tsx}`).scanSync({ cwd: folder })].toSorted()
  const files = tier === 'postgres' ? all.filter((file) => !withoutStore.some((part) => file.includes(part))) : all
  return words.length === 0 ? files : files.filter((file) => words.some((word) => file.includes(word)))
}

/**
 * Tests of the service that look into the data folder, that are about parts that no store takes part in, or that use
 * PostgreSQL in any case.
 */
const withoutStore = [
  'service/backup/',
  'service/cli/',
  'service/cluster/',
  'service/docs/',
  'service/executable/',
  'service/http/editor/usage.test.ts',
  'service/http/metrics.test.ts',
  'service/outbound/',
  'service/peers/',
  'service/processes/',
  'service/sandbox/',
  'service/store/',
]
