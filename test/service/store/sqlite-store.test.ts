import { expect, test } from 'bun:test'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { storeContract } from '../../support/store/contract/contract.ts'
import { install } from '../../support/store/installed.ts'

const sync = 'normal'

storeContract('SQLite in the same thread', (directory) => openSqliteStore({ directory, sync, mode: 'direct' }))

storeContract('SQLite in threads of its own', (directory) => openSqliteStore({ directory, sync, mode: 'workers' }))

test('SQLite reports the sizes of its write-ahead log and the free disk space', async () => {
  using folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync, mode: 'direct' })
  await install(store)
  const { walBytes, diskFreeBytes } = await store.measure()
  expect(walBytes).toBeGreaterThan(0)
  expect(diskFreeBytes).toBeGreaterThan(0)
  await store.close()
})
