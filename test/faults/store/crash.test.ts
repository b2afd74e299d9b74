import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { recordedIn, startAppending } from '../../support/store/appending-process.ts'

test.each([
  ['many at a time', 40],
  ['one at a time', 1],
])(
  'after kill -9 every acknowledged run is on disk (%s)',
  async (_, atOnce) => {
    using folder = temporaryFolder()
    const acknowledged = new Set<string>()
    for (let round = 0; round < 4; round += 1) {
      const child = startAppending({ directory: folder.path, mode: 'workers', wanted: 1_000_000, atOnce })
      const runs = 1 + Math.floor(Math.random() * 20 * atOnce)
      await child.until(() => child.acknowledged.size >= runs)
      child.kill('SIGKILL')
      await child.exited
      for (const id of child.acknowledged) acknowledged.add(id)

      const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
      const recorded = await recordedIn(store)
      await store.close()
      expect([...acknowledged].filter((id) => !recorded.has(id))).toEqual([])
      const database = new Database(databasePath(folder.path), { readonly: true })
      expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      database.close()
    }
  },
  120_000,
)

test('two processes write to one database at the same time, and lose nothing', async () => {
  using folder = temporaryFolder()
  const service = startAppending({ directory: folder.path, mode: 'workers', wanted: 1_000_000 })
  await service.until(() => service.acknowledged.size > 0)
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const [key] = await store.listKeys()
  const workspaceId = Object.keys(key!.roles)[0]!
  const ids: string[] = []
  for (let n = 0; n < 50; n += 1) {
    const before = service.acknowledged.size
    const document = { name: `Beside ${n}`, blocks: {}, edges: [] }
    ids.push((await store.createWorkflow({ id: null, workspaceId, document, at: n })).id)
    // Waits, so that both processes write alternately.
    await service.until(() => service.acknowledged.size > before)
  }
  expect(service.refused.size).toBe(0)
  service.kill('SIGKILL')
  await service.exited
  const recorded = await recordedIn(store)
  expect([...service.acknowledged].filter((id) => !recorded.has(id))).toEqual([])
  const kept = new Set((await store.listWorkflows(workspaceId)).map(({ id }) => id))
  expect(ids.filter((id) => !kept.has(id))).toEqual([])
  await store.close()
}, 120_000)
