import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { copyDatabase } from '../../src/store/sqlite/copy.ts'
import { Executor } from '../../src/store/sqlite/executor.ts'
import { halves, journalPath } from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../executable.ts'
import { recordedIn, startAppending } from './appending-process.ts'

// What a process that died has left in its journal.

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

test('whoever takes what is missing for gone is refused while the journal cannot be taken in, and others are not', async () => {
  const options = { path: databasePath(folder.path), sync: 'full', busyTimeoutMs: 20 } as const
  const written = new Executor(options, { journal: { onDisk: new Float64Array(1) } })
  written.beginJournal(1)
  // Its process dies; in the place of a file is something that cannot be read.
  mkdirSync(journalPath(options.path, 0))
  const next = new Executor(options, { journal: {} })
  for (const name of ['pendingSubscriptions', 'listCutJobs'] as const) expect(() => next.run(name, [])).toThrow()
  expect(next.run('listUsers', [])).toEqual([])
  rmdirSync(journalPath(options.path, 0))
  expect(next.run('pendingSubscriptions', [])).toEqual([])
  next.close()
})

test('a copy that is made after kill -9 has every acknowledged run, also those that only the journal has', async () => {
  const child = startAppending({ directory: folder.path, mode: 'workers', wanted: 1_000_000, atOnce: 1 })
  await child.until(() => child.acknowledged.size > 200)
  child.kill('SIGKILL')
  await child.exited
  expect(existsSync(journalPath(databasePath(folder.path), 0))).toBe(true)
  using place = temporaryFolder()
  copyDatabase(databasePath(folder.path), join(place.path, 'millrace.db'))
  const store = await openSqliteStore({ directory: place.path, sync: 'full', mode: 'direct' })
  const recorded = await recordedIn(store)
  await store.close()
  expect([...child.acknowledged].filter((id) => !recorded.has(id))).toEqual([])
}, 20_000)

test('a copy that is made while runs are recorded has those before it, and none after it from a journal beside it', async () => {
  const child = startAppending({ directory: folder.path, mode: 'workers', wanted: 1_000_000, atOnce: 1 })
  await child.until(() => child.acknowledged.size > 200)
  using place = temporaryFolder()
  const before = new Set(child.acknowledged)
  copyDatabase(databasePath(folder.path), join(place.path, 'millrace.db'))
  const copiedAt = Date.now()
  const [path, copy] = [databasePath(folder.path), databasePath(place.path)]
  // The first of an id's digits are the milliseconds at which it was made.
  const isLater = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16) > copiedAt
  await child.until(() => [...child.acknowledged].filter(isLater).length > 100)
  child.kill('SIGKILL')
  await child.exited
  for (const half of halves) copyFileSync(journalPath(path, half), journalPath(copy, half))
  const store = await openSqliteStore({ directory: place.path, sync: 'full', mode: 'direct' })
  const recorded = await recordedIn(store)
  await store.close()
  expect([...before].filter((id) => !recorded.has(id))).toEqual([])
  expect([...child.acknowledged].filter((id) => isLater(id) && recorded.has(id))).toEqual([])
}, 20_000)
