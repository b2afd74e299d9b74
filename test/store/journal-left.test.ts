import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { logWrite } from '../../src/domain/write.ts'
import { copyDatabase } from '../../src/store/sqlite/copy.ts'
import { Executor } from '../../src/store/sqlite/executor.ts'
import { encodeGroup } from '../../src/store/sqlite/group.ts'
import {
  halves,
  journalForm,
  journalPath,
  journalsAside,
  readJournal,
  writeRecord,
} from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../executable.ts'
import { appendLogs } from './append-logs.ts'
import { recordedIn, startAppending } from './appending-process.ts'
import { install, logRow } from './installed.ts'
import { untilJournaled } from './journaled.ts'
import { rejectionOf } from './rejection.ts'

// What a process that died has left in its journal.

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

const started = encodeGroup([{ kind: 'job-start', executionId: 'a run', at: 1 }])

test('whoever takes what is missing for gone is refused while the journal cannot be taken in, and others are not', async () => {
  const options = { path: databasePath(folder.path), sync: 'full', busyTimeoutMs: 20 } as const
  const written = new Executor(options, { journal: { own: true } })
  written.beginJournal(1)
  // Its process dies; in the place of a file is something that cannot be read.
  mkdirSync(journalPath(options.path, 0))
  const next = new Executor(options, { journal: { own: false } })
  for (const name of ['pendingSubscriptions', 'listCutJobs'] as const) expect(() => next.run(name, [])).toThrow()
  expect(next.run('listUsers', [])).toEqual([])
  rmdirSync(journalPath(options.path, 0))
  expect(next.run('pendingSubscriptions', [])).toEqual([])
  next.close()
})

/** As a process leaves it that died after its journal was begun, and the first record was taken in. */
function leave(path: string, texts: readonly string[], form?: number): number[] {
  const left = new Executor({ path, sync: 'full' }, { journal: { own: true } })
  left.beginJournal(7)
  const bytes = Buffer.alloc(4_096)
  let at = 0
  const ends = texts.map((text, index) => {
    at += writeRecord(bytes.subarray(at), 7, { position: index + 1, text }, form)
    return at
  })
  for (const half of halves) writeFileSync(journalPath(path, half), half === 0 ? bytes : '')
  left.hold([{ position: 1, text: texts[0]! }])
  left.takeIn()
  return ends
}

test.each([
  ['damaged', (path: string) => writeFileSync(path, crypto.getRandomValues(new Uint8Array(4_096)))],
  ['cut off', (path: string) => truncateSync(path)],
  ['taken away', (path: string) => rmSync(path)],
])('a service whose journal was %s while it was down says so when it starts, and takes runs', async (_, spoil) => {
  const direct = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const home = await install(direct)
  await direct.close()
  leave(databasePath(folder.path), [started, started])
  for (const half of halves) spoil(journalPath(databasePath(folder.path), half))
  const told = Promise.withResolvers<readonly string[]>()
  const options = { directory: folder.path, sync: 'full', mode: 'workers', onLost: told.resolve } as const
  const store = await openSqliteStore(options)
  expect(await told.promise).toEqual([expect.stringContaining('millrace.journal-a')])
  const row = logRow(home, 1)
  await appendLogs(store, [row])
  expect(await store.getExecution(row.executionId)).toMatchObject({ sequence: 1 })
  await store.close()
})

test('a service that finds its journal in order when it starts has nothing to say', () => {
  const path = databasePath(folder.path)
  leave(path, [started])
  const next = new Executor({ path, sync: 'full' }, { journal: { own: true } })
  expect(next.takeIn().lost).toEqual([])
  next.close()
})

test('a record that was damaged is told, those behind it are taken in, and the file is kept', async () => {
  const path = databasePath(folder.path)
  const direct = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'direct' })
  const home = await install(direct)
  await direct.close()
  const rows = [1, 2, 3, 4, 5].map((sequence) => logRow(home, sequence))
  const ends = leave(
    path,
    rows.map((row) => encodeGroup([logWrite(row)])),
  )
  const bytes = readFileSync(journalPath(path, 0))
  for (const end of [ends[1]!, ends[2]!]) bytes[end - 20]! ^= 1
  writeFileSync(journalPath(path, 0), bytes)
  using place = temporaryFolder()
  expect(() => copyDatabase(path, join(place.path, 'millrace.db'))).toThrow('records 2 to 3 cannot be read')
  // A command cannot know whether somebody is writing there.
  const command = new Executor({ path, sync: 'full' }, { journal: { own: false } })
  expect(command.run('lastSequence', [])).toBe(1)
  command.close()

  const told = Promise.withResolvers<readonly string[]>()
  const options = { directory: folder.path, sync: 'full', mode: 'workers', onLost: told.resolve } as const
  const store = await openSqliteStore(options)
  const [aside, ...others] = journalsAside(folder.path)
  expect(others).toEqual([])
  expect(readFileSync(join(folder.path, aside!))).toEqual(bytes)
  expect(await told.promise).toEqual([
    expect.stringMatching(new RegExp(`records 2 to 3 of the journal.* kept as .*${aside}`)),
  ])
  expect(await recordedIn(store)).toEqual(new Set([0, 3, 4].map((index) => rows[index]!.executionId)))
  await untilJournaled(folder.path, async () => {
    await appendLogs(store, [logRow(home, (await store.lastSequence()) + 1)])
  })
  await store.close()
  expect(journalsAside(folder.path)).toEqual([aside!])
  const again = new Executor({ path, sync: 'full' }, { journal: { own: true } })
  expect(again.takeIn().lost).toEqual([])
  again.close()
})

test('what an earlier version left is taken in', () => {
  const path = databasePath(folder.path)
  leave(path, [started, started], 0)
  const next = new Executor({ path, sync: 'full' }, { journal: { own: true } })
  expect(next.takeIn()).toMatchObject({ lost: [], walBytes: expect.any(Number) })
  expect(readJournal(path, 7, 1).records).toHaveLength(1)
  next.close()
})

test('what a newer version left stops whoever opens the database, who is told what to do, and is left as it is', async () => {
  const path = databasePath(folder.path)
  leave(path, [started, started], journalForm + 1)
  const bytes = readFileSync(journalPath(path, 0))
  for (const mode of ['direct', 'workers'] as const) {
    const opening = openSqliteStore({ directory: folder.path, sync: 'full', mode })
    expect(await rejectionOf(opening)).toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringMatching(/newer Millrace .form \d+;.* Start that version/),
    })
  }
  expect(readFileSync(journalPath(path, 0))).toEqual(bytes)
})

test('a record that nothing can be made of is told, and those behind it are taken in', () => {
  const path = databasePath(folder.path)
  leave(path, [started, 'L of another program', started])
  const next = new Executor({ path, sync: 'full' }, { journal: { own: true } })
  expect(next.takeIn().lost).toEqual([expect.stringContaining('record 2')])
  expect(next.beginJournal(8)).toBe(0)
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
}, 120_000)

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
}, 120_000)
