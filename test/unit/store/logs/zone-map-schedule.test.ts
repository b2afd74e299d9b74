import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { logWrite } from '../../../../src/domain/run/write.ts'
import { zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { databasePath } from '../../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { ZoneMapSchedule } from '../../../../src/store/sqlite/upkeep/zone-map-schedule.ts'
import type { Store } from '../../../../src/store/store.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { type Installed, install, logRow } from '../../../support/store/installed.ts'

type Zone = { entries: number; last_sequence: number }

function zonesIn(directory: string): Zone[] {
  using database = new Database(databasePath(directory), { readonly: true })
  return database.query<Zone, []>('SELECT entries, last_sequence FROM log_zones ORDER BY first_sequence').all()
}

/** Waits for a number of zone maps. Each call gives the writer thread a turn. */
async function waitForZones(store: Store, directory: string, count: number): Promise<Zone[]> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    const zones = zonesIn(directory)
    if (zones.length >= count) return zones
    await store.lastSequence()
  }
  throw new Error(`There were never ${count} zones`)
}

const rowsOf = (home: Installed, first: number, count: number) =>
  Array.from({ length: count }, (_, index) => logRow(home, first + index))

test('a zone map is written when its rows are complete', async () => {
  using folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'workers' })
  const home = await install(store)
  // Single rows are written in the service's thread, groups in the writer thread.
  for (let n = 0; n < 300; n += 1) await appendLogs(store, rowsOf(home, 1 + n, 1))
  await appendLogs(store, rowsOf(home, 301, 3 * zoneRows - 300 - 1))
  expect(await waitForZones(store, folder.path, 2)).toEqual([
    { entries: zoneRows, last_sequence: zoneRows },
    { entries: zoneRows, last_sequence: 2 * zoneRows },
  ])
  await appendLogs(store, rowsOf(home, 3 * zoneRows, zoneRows))
  expect(await waitForZones(store, folder.path, 3)).toHaveLength(3)
  await store.close()
})

test('rows without a zone map get one at the start of the service', async () => {
  using folder = temporaryFolder()
  const open = (mode: 'direct' | 'workers') => openSqliteStore({ directory: folder.path, sync: 'normal', mode })
  const before = await open('direct')
  const home = await install(before)
  await appendLogs(before, rowsOf(home, 1, 4 * zoneRows + 7))
  await before.close()
  expect(zonesIn(folder.path)).toEqual([])
  const store = await open('workers')
  expect(await waitForZones(store, folder.path, 4)).toHaveLength(4)
  await store.close()
})

test('a step that fails is repeated later', async () => {
  const asked: (string | undefined)[] = []
  let fails = true
  let written = 0
  const zoneMaps = new ZoneMapSchedule({
    async summarise(workspaceId) {
      asked.push(workspaceId)
      if (fails) throw new Error('The disk is away')
      return asked.length < 6
    },
    onWritten: () => {
      written += 1
    },
  })
  const writes = rowsOf({ workspaceId: 'w', workflowId: 'f' } as Installed, 1, zoneRows).map((row) => logWrite(row))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  zoneMaps.start()
  await turn()
  expect(asked).toEqual([undefined])
  zoneMaps.count(writes.slice(1))
  await turn()
  expect(asked).toHaveLength(1)
  fails = false
  zoneMaps.count(writes.slice(0, 1))
  await turn()
  expect(asked.slice(1)).toEqual(['w', 'w', 'w', 'w', 'w'])
  expect(written).toBe(4)
})
