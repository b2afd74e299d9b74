import { expect, test } from 'bun:test'
import { logWrite } from '../../src/domain/write.ts'
import { Executor } from '../../src/store/sqlite/executor.ts'
import { Inline } from '../../src/store/sqlite/inline.ts'
import { databasePath, openConnection } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../executable.ts'
import { install, logRow } from './installed.ts'

/** Commits that take as long as a test says, over a real database. */
async function world(folder: { path: string }) {
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  const home = await install(store)
  await store.close()
  const calls: string[] = []
  const writer = {
    isIdle: true,
    distrust: () => void calls.push('distrust'),
  }
  let nowMs = 0
  let commitMs = 0.1
  let readings = 0
  const monotonic = () => {
    // Each commit reads the clock before and after itself; the first reading is whether it is paused.
    readings += 1
    if (readings % 3 === 0) nowMs += commitMs
    return nowMs
  }
  const database = { path: databasePath(folder.path), sync: 'normal', manualCheckpoints: true } as const
  const inline = new Inline({ database, writer, monotonic })
  let sequence = 0
  return {
    calls,
    writer,
    inline,
    commit(rows = 1, more = {}) {
      readings = 0
      return inline.append(Array.from({ length: rows }, () => logWrite(logRow(home, ++sequence, more)))) !== undefined
    },
    takes: (ms: number) => {
      commitMs = ms
    },
    wait: (ms: number) => {
      nowMs += ms
    },
    recorded: () => new Executor(database).run('lastSequence', []),
  }
}

test('a few rows are committed at once, while the thread is idle; more rows, and those after them, are for the thread', async () => {
  using folder = temporaryFolder()
  const { commit, inline, wait, writer, recorded } = await world(folder)
  expect(commit(4)).toBe(true)
  expect(recorded()).toBe(4)
  writer.isIdle = false
  expect(commit()).toBe(false)
  writer.isIdle = true
  expect(commit()).toBe(true)
  expect(commit(5)).toBe(false)
  expect(commit()).toBe(false)
  wait(20)
  expect(commit()).toBe(true)
  inline.close()
})

test('a slow disk sends everything to the thread within some commits, but for one a second', async () => {
  using folder = temporaryFolder()
  const { commit, inline, takes, wait } = await world(folder)
  takes(2.4)
  let commits = 0
  while (commit()) commits += 1
  expect(commits).toBeLessThan(30)
  expect(commit()).toBe(false)
  wait(1_000)
  expect(commit()).toBe(true)
  expect(commit()).toBe(false)

  takes(0.1)
  let seconds = 0
  do {
    wait(1_000)
    commit()
    seconds += 1
  } while (!commit())
  expect(seconds).toBeLessThan(60)
  inline.close()
})

test('one stall pauses it for a second', async () => {
  using folder = temporaryFolder()
  const { commit, inline, takes, wait } = await world(folder)
  takes(40)
  expect(commit()).toBe(true)
  takes(0.1)
  expect(commit()).toBe(false)
  wait(1_000)
  expect(commit()).toBe(true)
  expect(commit()).toBe(true)
  inline.close()
})

test('another process that is writing is waited for by the thread, not here', async () => {
  using folder = temporaryFolder()
  const { commit, inline } = await world(folder)
  expect(commit()).toBe(true)
  const other = openConnection({ path: databasePath(folder.path), sync: 'normal' })
  other.write(() => expect(commit()).toBe(false))
  expect(commit()).toBe(true)
  other.close()
  inline.close()
})

test('a row that the database refuses is the fault of that row', async () => {
  using folder = temporaryFolder()
  const { commit, inline, calls } = await world(folder)
  expect(() => commit(1, { workflowId: 'nothing' })).toThrow('There is no workflow nothing')
  expect(commit()).toBe(true)
  expect(calls).toEqual([])
  inline.close()
})
