import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { recordedIn } from '../../support/store/appending-process.ts'
import { type Call, callsIn, cutPower, tracedBy } from './power-cut.ts'

/** Power cuts per trace. For a longer test: `POWER_CUTS=2000 bun test ./test/faults/store/power-cut.test.ts`. */
const cuts = Number(Bun.env['POWER_CUTS'] ?? 25)

/** With long outputs, checkpoints run while the process writes. */
describe.each([
  ['alone', ['400', '1']],
  ['alone, with long outputs', ['600', '1', '24000']],
  ['sometimes alone, sometimes together', ['900', '9', '0', 'uneven']],
] as const)('runs that end %s', (_, options) => {
  const folder = temporaryFolder()
  const place = realpathSync(folder.path)
  let calls: Call[] = []
  beforeAll(async () => {
    const [data, trace, output] = ['data', 'trace', 'output'].map((name) => join(place, name)) as [
      string,
      string,
      string,
    ]
    const script = join(import.meta.dir, '../../support/store/append.ts')
    const command = [...tracedBy(trace), process.execPath, script, data, 'workers', ...options]
    const child = Bun.spawn(command, { stdout: Bun.file(output), stderr: 'inherit' })
    expect(await child.exited).toBe(0)
    calls = await callsIn(trace, data, output)
    rmSync(data, { recursive: true })
    rmSync(trace)
  }, 120_000)
  afterAll(() => folder[Symbol.dispose]())

  test(
    'are in the log after a power cut at any moment if they were acknowledged',
    async () => {
      const writes = calls.filter((call) => call.kind === 'write' && call.file.endsWith('-wal'))
      expect(writes.length).toBeGreaterThan(100)
      const first = calls.findIndex((call) => call.kind === 'output')
      for (let cut = 0; cut < cuts; cut += 1) {
        const at = first + 1 + Math.floor(Math.random() * (calls.length - first))
        const directory = join(place, `cut-${cut}`)
        cutPower(calls, at, directory, Math.random)
        const acknowledged = calls.slice(0, at).flatMap((call) => (call.kind === 'output' ? idsIn(call.text) : []))
        // Alternates between the mode of commands and the mode of the service.
        const mode = cut % 2 === 0 ? 'direct' : 'workers'
        const store = await openSqliteStore({ directory, sync: 'full', mode })
        const recorded = await recordedIn(store)
        await store.close()
        expect({ at, missing: acknowledged.filter((id) => !recorded.has(id)) }).toEqual({ at, missing: [] })
        // At most one group was being written.
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
