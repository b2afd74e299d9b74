import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync, statSync, truncateSync } from 'node:fs'
import type { LogRow } from '../../src/domain/log.ts'
import { logWrite } from '../../src/domain/write.ts'
import { Journal } from '../../src/store/sqlite/journal.ts'
import { halfBytes, halves, journalPath } from '../../src/store/sqlite/journal-file.ts'
import { databasePath, type OpenOptions } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { Thread } from '../../src/store/sqlite/thread.ts'
import { temporaryFolder } from '../executable.ts'
import { install, logRow } from './installed.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder[Symbol.dispose]())

describe('a journal', () => {
  /** Flushes that take as long as a test says, in front of a real database. */
  async function world(more: Partial<OpenOptions> = {}) {
    const direct = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    const home = await install(direct)
    await direct.close()
    const database = { path: databasePath(folder.path), sync: 'normal', ...more } as const
    const thread = await Thread.start(database, { journal: { own: true } })
    let [nowMs, tookMs, sequence] = [0, 0.1, 1]
    const lost: string[] = []
    const troubles: string[] = []
    const journal = new Journal({
      databasePath: database.path,
      sync: 'normal',
      writer: thread,
      // Each group reads it before its flush and after it.
      monotonic: () => {
        nowMs += tookMs
        return nowMs
      },
      onTaken: (taken) => lost.push(...taken.lost),
      onTrouble: (what) => troubles.push(what),
    })
    thread.precede(() => journal.untold())
    const row = (more: Partial<LogRow>) => {
      sequence += 1
      return logWrite(logRow(home, sequence, more))
    }
    const rows = (count: number, more: Partial<LogRow> = {}) => Array.from({ length: count }, () => row(more))
    const first = rows(1)
    await thread.append(first)
    journal.learn(first)
    expect(journal.append(first)).toBe(false)
    while (!journal.append(rows(1))) await Bun.sleep(1)
    return {
      journal,
      thread,
      home,
      lost,
      troubles,
      rows,
      commit: (count = 1, more = {}) => journal.append(rows(count, more)),
      takes: (ms: number) => {
        tookMs = ms
      },
      wait: (ms: number) => {
        nowMs += ms
      },
      async [Symbol.asyncDispose]() {
        await journal.close()
        await thread.close()
      },
    }
  }

  test('takes a few runs at a time; more, and those after them, are for the thread', async () => {
    await using it = await world()
    expect(it.commit(4)).toBe(true)
    expect(it.commit(5)).toBe(false)
    expect(it.commit()).toBe(false)
    it.wait(20)
    expect(it.commit()).toBe(true)
  })

  test('takes nothing that the database could refuse', async () => {
    await using it = await world()
    for (const fault of [
      { workflowId: 'nothing' },
      { workspaceId: 'nowhere' },
      { startedAt: 1.5 },
      { durationMs: Number.NaN },
      { sequence: 2 },
    ])
      expect(it.commit(1, fault)).toBe(false)
    const claimed = it.rows(1).map((write) => ({ ...write, claim: { kind: 'request' as const, key: 'k', at: 1 } }))
    expect(it.journal.append(claimed)).toBe(false)
    expect(it.journal.append([{ kind: 'job-start', executionId: 'of nobody', at: 1 }])).toBe(true)
    expect(it.commit()).toBe(true)
  })

  test('on a slow disk sends everything to the thread within some groups, but for one a second', async () => {
    await using it = await world()
    it.takes(2.4)
    let commits = 0
    while (it.commit()) commits += 1
    expect(commits).toBeLessThan(30)
    expect(it.commit()).toBe(false)
    it.wait(1_000)
    expect(it.commit()).toBe(true)
    expect(it.commit()).toBe(false)
    it.takes(0.1)
    let seconds = 0
    do {
      it.wait(1_000)
      it.commit()
      seconds += 1
    } while (!it.commit())
    expect(seconds).toBeLessThan(60)
  })

  test('pauses for a second after one stall', async () => {
    await using it = await world()
    it.takes(40)
    expect(it.commit()).toBe(true)
    it.takes(0.1)
    expect(it.commit()).toBe(false)
    it.wait(1_000)
    expect(it.commit()).toBe(true)
    expect(it.commit()).toBe(true)
  })

  test('is written in turns, never grows, and loses nothing', async () => {
    await using it = await world()
    const finalOutput = JSON.stringify('x'.repeat(100_000))
    const { journal } = it
    let bytes = 0
    const ids: string[] = []
    while (bytes < 5 * halfBytes) {
      const [write] = it.rows(1, { finalOutput })
      if (!journal.append([write!])) await it.thread.append([write!])
      if (write!.kind === 'log') ids.push(write!.row.executionId)
      bytes += finalOutput.length
      if (ids.length % 7 === 0) await journal.caughtUp()
    }
    await journal.caughtUp()
    for (const half of halves) {
      expect(statSync(journalPath(databasePath(folder.path), half)).size).toBe(halfBytes)
    }
    for (const id of ids) expect(await it.thread.call('getExecution', [id])).toMatchObject({ executionId: id })
    expect(it.lost).toEqual([])
  })

  test('leaves it to the thread when that is far behind, and goes on when it has caught up', async () => {
    await using it = await world()
    const finalOutput = JSON.stringify('x'.repeat(200_000))
    let commits = 0
    // In one turn of the loop: the thread's answers are not heard.
    while (it.commit(1, { finalOutput })) commits += 1
    expect(commits).toBeGreaterThan(5)
    expect(commits * finalOutput.length).toBeLessThan(halfBytes)
    await it.journal.caughtUp()
    expect(it.commit(1, { finalOutput })).toBe(true)
  })

  test.each([
    ['cut off', (path: string) => truncateSync(path)],
    ['taken away', (path: string) => rmSync(path)],
  ])('whose files are %s while it is used leaves them, loses nothing, and comes back', async (_, spoil) => {
    await using it = await world()
    const path = databasePath(folder.path)
    const ids: string[] = []
    const commit = async () => {
      const [write] = it.rows(1)
      if (write!.kind === 'log') ids.push(write!.row.executionId)
      const isJournaled = it.journal.append([write!])
      if (!isJournaled) await it.thread.append([write!])
      return isJournaled
    }
    for (let n = 0; n < 20; n += 1) expect(await commit()).toBe(true)
    for (const half of halves) spoil(journalPath(path, half))
    it.wait(10)
    expect(await commit()).toBe(false)
    expect(it.troubles).toEqual([expect.stringContaining('millrace.journal-a')])
    it.wait(60_000)
    while (!(await commit())) await Bun.sleep(1)
    for (const half of halves) expect(statSync(journalPath(path, half)).size).toBe(halfBytes)
    await it.journal.caughtUp()
    for (const id of ids) expect(await it.thread.call('getExecution', [id])).toMatchObject({ executionId: id })
    expect(it.lost).toEqual([])
  })

  test('says when the database does not take it in, and once it does', async () => {
    await using it = await world({ busyTimeoutMs: 20 })
    using other = new Database(databasePath(folder.path))
    other.run('BEGIN IMMEDIATE')
    expect(it.commit()).toBe(true)
    expect(await it.journal.caughtUp()).toBe(false)
    other.run('ROLLBACK')
    expect(await it.journal.caughtUp()).toBe(true)
    expect(it.journal.caughtUp()).toBeUndefined()
  })

  test('has what an entry refuses told, and keeps the others', async () => {
    await using it = await world()
    const twice = { executionId: 'twice' }
    expect(it.commit(1, twice)).toBe(true)
    const [before, between, after] = [it.rows(1), it.rows(1, twice), it.rows(1)]
    for (const group of [before, between, after]) expect(it.journal.append(group)).toBe(true)
    await it.journal.caughtUp()
    expect(it.lost).toMatchObject([expect.stringContaining('twice')])
    const last = after[0]!
    expect(await it.thread.call('lastSequence', [])).toBe(last.kind === 'log' ? last.row.sequence : 0)
  })
})
