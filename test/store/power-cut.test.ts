import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../executable.ts'
import { recordedIn } from './appending-process.ts'
import { type Call, callsIn, cutPower, tracedBy } from './power-cut.ts'
import { succeeds } from './small-disk.ts'

/** Cuts a trace; more of them for a day's worth of certainty: `POWER_CUTS=2000 bun test ./test/store/power-cut.test.ts`. */
const cuts = Number(Bun.env['POWER_CUTS'] ?? 25)
const traced = succeeds('strace', '-qq', '-e', 'trace=none', 'true')

/** The second of each pair: so many characters a run that both files of the journal are written more than once. */
describe.each([
  ['alone', ['400', '1']],
  ['alone, with long outputs', ['600', '1', '24000']],
  ['alone, with long outputs, while the database is being read', ['600', '1', '24000', 'read']],
  ['now alone, now together', ['900', '9', '0', 'uneven']],
] as const)('runs that end %s', (_, options) => {
  const folder = temporaryFolder()
  const place = realpathSync(folder.path)
  let calls: Call[] = []
  beforeAll(async () => {
    if (!traced) return console.warn('SKIPPED power cuts: strace is not installed, or tracing is not permitted here.')
    const [data, trace, output] = ['data', 'trace', 'output'].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ]
    const script = join(import.meta.dir, 'append.ts')
    const command = [...tracedBy(trace), process.execPath, script, data, 'workers', ...options]
    const child = Bun.spawn(command, { stdout: Bun.file(output), stderr: 'inherit' })
    expect(await child.exited).toBe(0)
    calls = await callsIn(trace, data, output)
    rmSync(data, { recursive: true })
    rmSync(trace)
  }, 120_000)
  afterAll(() => folder[Symbol.dispose]())

  test.skipIf(!traced)(
    'are in the log after a power cut at any moment, once they were acknowledged',
    async () => {
      const journaled = calls.filter((call) => call.kind === 'write' && call.file.includes('journal-'))
      expect(journaled.length).toBeGreaterThan(20)
      const first = calls.findIndex((call) => call.kind === 'said')
      for (let cut = 0; cut < cuts; cut += 1) {
        const at = first + 1 + Math.floor(Math.random() * (calls.length - first))
        const directory = join(place, `cut-${cut}`)
        cutPower(calls, at, directory, Math.random)
        const acknowledged = calls.slice(0, at).flatMap((call) => (call.kind === 'said' ? idsIn(call.text) : []))
        const lost: string[] = []
        // In turns as a command does it, and as the service, which looks for damage as well.
        const mode = cut % 2 === 0 ? 'direct' : 'workers'
        const onLost = (what: readonly string[]) => lost.push(...what)
        const store = await openSqliteStore({ directory, sync: 'full', mode, onLost })
        const recorded = await recordedIn(store)
        await store.close()
        expect(lost).toEqual([])
        expect({ at, missing: acknowledged.filter((id) => !recorded.has(id)) }).toEqual({ at, missing: [] })
        // Runs end one after the other in front of the disk, so what is there of the rest is what came next.
        expect(recorded.size).toBeLessThanOrEqual(acknowledged.length + Number(options[1]))
        const database = new Database(databasePath(directory), { readonly: true })
        expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
        database.close()
        rmSync(directory, { recursive: true })
      }
    },
    60_000 + cuts * 500,
  )
})

function idsIn(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.startsWith('+') ? [line.slice(1)] : []))
}
