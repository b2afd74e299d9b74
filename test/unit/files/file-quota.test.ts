import { expect, test } from 'bun:test'
import { newExecutionId } from '../../../src/domain/ids.ts'
import { FileQuota, type FileUsage } from '../../../src/files/file-quota.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'

const run = (executionId: string, workspaceId = 'w') => ({ workspaceId, workflowId: 'f', executionId })
const full = { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('MILLRACE_WORKSPACE_FILES_MAX') }
const tooBig = { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('MILLRACE_WORKSPACE_FILE_BYTES') }

/** A quota of 5 files and 100 bytes, over a log that a test changes. */
function quotaOver(log: FileUsage, getFileUsage = async () => ({ ...log })) {
  const clock = new ManualClock()
  let reads = 0
  const counted = (workspaceId: string) => {
    reads += 1
    return workspaceId === 'w' ? getFileUsage() : Promise.resolve({ files: 0, bytes: 0 })
  }
  const quota = new FileQuota({ getFileUsage: counted, filesMax: 5, bytesMax: 100, clock })
  return { quota, clock, reads: () => reads }
}

test('a workspace stores files up to its number and its bytes, beside those of the log', async () => {
  const { quota, reads } = quotaOver({ files: 2, bytes: 20 })
  await quota.take(run('a'), 10)
  await expect(quota.take(run('a'), 71)).rejects.toMatchObject(tooBig)
  await quota.take(run('a'), 70)
  await quota.take(run('b'), 0)
  await expect(quota.take(run('b'), 0)).rejects.toMatchObject(full)
  await quota.take(run('c', 'other'), 100)
  expect(reads()).toBe(2)
})

test('files that are stored at the same moment do not exceed the quota together', async () => {
  const { quota } = quotaOver({ files: 0, bytes: 0 })
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => quota.take(run(`${index}`), 1)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
})

test('files that were not stored, or were deleted with a run that did not start, do not count', async () => {
  const { quota, reads } = quotaOver({ files: 0, bytes: 0 })
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 5; count++) await quota.take(run('a'), 20)
    quota.failed(run('a'), 20)
    await quota.take(run('b'), 20)
    for (const executionId of ['a', 'b']) quota.deleted(run(executionId))
  }
  expect(reads()).toBe(1)
})

test('files of recorded runs count until they are deleted', async () => {
  const log = { files: 0, bytes: 0 }
  const { quota } = quotaOver(log)
  for (let count = 0; count < 5; count++) await quota.take(run('a'), 1)
  log.files = 5
  quota.recorded(run('a'))
  await expect(quota.take(run('b'), 1)).rejects.toMatchObject(full)
  log.files = 0
  quota.deleted(run('a'))
  await quota.take(run('b'), 1)
})

test('a sum that is read while a run is recorded is read again', async () => {
  const first = Promise.withResolvers<FileUsage>()
  const sums = [Promise.resolve({ files: 0, bytes: 0 }), first.promise]
  const { quota, clock, reads } = quotaOver(
    { files: 0, bytes: 0 },
    () => sums.shift() ?? Promise.resolve({ files: 4, bytes: 4 }),
  )
  await quota.take(run('a'), 1)
  clock.advance(3_600_000)
  const taking = quota.take(run('b'), 1)
  quota.recorded(run('a'))
  first.resolve({ files: 0, bytes: 0 })
  await taking
  await expect(quota.take(run('b'), 1)).rejects.toMatchObject(full)
  expect(reads()).toBe(3)
})

test('after a restart, the log knows the files, until they have been deleted with its entries', async () => {
  using folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  const home = await install(store)
  const executionId = newExecutionId()
  const path = `${home.workspaceId}/${home.workflowId}/${executionId}`
  const stored = (size: number) => ({
    key: `${path}/1/a.txt`,
    file: { url: 'u', name: 'a.txt', size, type: 'text/plain' },
  })
  const given = { key: null, file: { url: 'https://example.org/a', name: 'a', size: 0, type: 'text/plain' } }
  const text = JSON.stringify([stored(7), given, stored(5)])
  await appendLogs(store, [logRow(home, 1, { executionId, files: { text, folder: path } })])
  const other = { text: JSON.stringify([given]), folder: null }
  await appendLogs(store, [logRow(home, 2, { executionId: newExecutionId(), files: other })])
  expect(await store.getFileUsage(home.workspaceId)).toEqual({ files: 2, bytes: 12 })
  expect(await store.getFileUsage('nobody')).toEqual({ files: 0, bytes: 0 })
  while (!(await store.retain({ before: 10, bytesMax: 2 ** 40, workMs: 0 })).done);
  expect(await store.getFileUsage(home.workspaceId)).toEqual({ files: 2, bytes: 12 })
  await store.forgetGoneFiles([path])
  expect(await store.getFileUsage(home.workspaceId)).toEqual({ files: 0, bytes: 0 })
  await store.close()
})
