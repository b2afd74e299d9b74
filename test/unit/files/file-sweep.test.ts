import { afterEach, beforeEach, expect, test } from 'bun:test'
import { newExecutionId } from '../../../src/domain/ids.ts'
import type { NewJob } from '../../../src/domain/run/job.ts'
import { createDiskStorage } from '../../../src/files/disk.ts'
import { FileSweep } from '../../../src/files/file-sweep.ts'
import { UrlSigner } from '../../../src/files/signed-url.ts'
import { Spool } from '../../../src/files/spool.ts'
import type { FileStorage } from '../../../src/files/storage.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'

const dayMs = 86_400_000
let folder: Disposable & { path: string }
let store: Store
let home: Installed
let storage: FileStorage
let spool: Spool
let clock: ManualClock
let sweep: FileSweep | undefined

beforeEach(async () => {
  folder = temporaryFolder()
  store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  home = await install(store)
  const signer = new UrlSigner(
    () => [],
    () => '',
  )
  storage = createDiskStorage({ root: `${folder.path}/files`, signer, isDurable: false })
  spool = new Spool(`${folder.path}/files/.incoming`, { isDurable: false })
  clock = new ManualClock()
})
afterEach(async () => {
  await sweep?.stop()
  await store.close()
  folder[Symbol.dispose]()
})

async function keep(executionId: string): Promise<string> {
  const path = `${home.workspaceId}/${home.workflowId}/${executionId}`
  await storage.put(`${path}/1/a.txt`, await spool.hold(Buffer.from('x')), 'text/plain')
  return path
}

/** Stores a run that waits for an approval. */
async function pause(executionId: string): Promise<void> {
  const { workflowId, workspaceId } = home
  const times = { createdAt: 1, startedAt: 1 }
  const row: NewJob = { executionId, workflowId, workspaceId, version: 1, trigger: 'form', ...times, input: bytes }
  const asked = { place: 'b', blockId: 'b', blockName: 'b', since: 2, until: null, content: null }
  await store.append([
    { kind: 'job', row },
    { kind: 'job-pause', executionId, at: 2, pauses: [{ ...asked, contextId: 'c', kind: 'approval' }] },
  ])
}

const bytes = Uint8Array.of(1)

async function folders(): Promise<string[]> {
  const found: string[] = []
  for await (const each of storage.folders()) found.push(each)
  return found.toSorted()
}

/** Runs rounds until a condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    clock.advance(60_000)
    await Bun.sleep(1)
  }
}

test('files are deleted with their log entry and not before, even after an outage of the storage', async () => {
  const [gone, kept] = [newExecutionId(), newExecutionId()]
  const [gonePath, keptPath] = [await keep(gone), await keep(kept)]
  const files = (path: string) => ({ text: '[]', folder: path })
  await appendLogs(store, [logRow(home, 1, { executionId: gone, files: files(gonePath) })])
  await appendLogs(store, [logRow(home, 5_000_000, { executionId: kept, files: files(keptPath) })])
  while (!(await store.retain({ before: 2, bytesMax: 2 ** 40, workMs: 0 })).done);
  let isDown = true
  const failures: unknown[] = []
  const deleted: string[] = []
  sweep = new FileSweep({
    store,
    clock,
    isLeader: () => true,
    storage: {
      ...storage,
      removeFolder: (path) => (isDown ? Promise.reject(new Error('down')) : storage.removeFolder(path)),
    },
    onDeleted: (path) => deleted.push(path),
    onFailure: (error) => failures.push(error),
  })
  await until(async () => failures.length > 1)
  expect(await folders()).toEqual([gonePath, keptPath].toSorted())
  isDown = false
  await until(async () => (await store.listGoneFiles(1)).length === 0)
  expect(await folders()).toEqual([keptPath])
  expect(deleted).toEqual([gonePath])
})

test('files of unrecorded runs are deleted after eight days, and all other files stay, also those of paused runs', async () => {
  const [lost, recorded, paused] = [newExecutionId(), newExecutionId(), newExecutionId()]
  const [lostPath, recordedPath, pausedPath] = [await keep(lost), await keep(recorded), await keep(paused)]
  await appendLogs(store, [logRow(home, 1, { executionId: recorded })])
  await pause(paused)
  const now = clock.now()
  clock.advance(Math.max(0, Date.now() - now) + 7 * dayMs)
  const deleted: string[] = []
  const onDeleted = (path: string) => deleted.push(path)
  let isLeader = false
  const onFailure = (error: unknown) => expect.unreachable(String(error))
  sweep = new FileSweep({ store, storage, clock, isLeader: () => isLeader, onDeleted, onFailure })
  clock.advance(5_000)
  // After a round, the sweep waits for the next one.
  await clock.whenPending()
  expect(await folders()).toEqual([lostPath, recordedPath, pausedPath].toSorted())
  clock.advance(2 * dayMs)
  await clock.whenPending()
  // Another process deletes them while this one is not the leader.
  expect(deleted).toEqual([])
  isLeader = true
  await until(async () => deleted.length > 0)
  expect(await folders()).toEqual([recordedPath, pausedPath].toSorted())
  expect(deleted).toEqual([lostPath])
})
