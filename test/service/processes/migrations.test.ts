import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../support/executable.ts'

test('migrations run once when several processes start at the same time', async () => {
  using folder = temporaryFolder()
  const children = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, join(import.meta.dir, '../../support/store/append.ts'), folder.path, 'direct', '0'], {
      stdout: 'pipe',
    }),
  )
  for (const child of children) expect(await child.exited).toBe(0)
  const store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  expect(await store.isInitialised()).toBe(true)
  await store.close()
})
