import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import type { LogRow } from '../../src/domain/log.ts'
import { halves, journalPath } from '../../src/store/sqlite/journal-file.ts'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../executable.ts'
import { appendLogs } from './append-logs.ts'
import { type Installed, install, logRow } from './installed.ts'
import { untilJournaled } from './journaled.ts'
import { entriesOf, logQuery } from './log-model.ts'
import { rejectionOf } from './rejection.ts'

describe('a store with a journal', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let store: Store
  let home: Installed
  let sequence: number

  beforeEach(async () => {
    folder = temporaryFolder()
    store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'workers' })
    home = await install(store)
    sequence = 0
    await untilJournaled(folder.path, () => record())
  })
  afterEach(async () => {
    await store.close()
    folder[Symbol.dispose]()
  })

  async function record(more: Partial<LogRow> = {}): Promise<LogRow> {
    sequence += 1
    const row = logRow(home, sequence, more)
    await appendLogs(store, [row])
    return row
  }

  test('shows every run at once, to whoever asks', async () => {
    const query = logQuery(home.workspaceId, { order: 'desc', limit: 1 })
    for (let n = 1; n <= 200; n += 1) {
      const row = await record({ costTotal: 0.5, endedAt: Date.UTC(2025, 0, 15) })
      const asked = [
        async () => expect((await store.queryLogs(query)).entries).toContain(row.executionId),
        async () => expect(await store.getLog(row.sequence)).toMatchObject({ executionId: row.executionId }),
        async () => expect(await store.getExecution(row.executionId)).toMatchObject({ sequence: row.sequence }),
        async () => expect(await store.lastSequence()).toBe(row.sequence),
        async () => expect(await store.getUsage(home.userId, Date.UTC(2025, 0, 1))).toBe(n * 0.5),
      ]
      await asked[n % asked.length]!()
    }
  })

  test('does not take a run for none that only the journal has, and no page passes it by', async () => {
    await store.close()
    let nowMs = 0
    // A disk that is always fast: nothing goes to the thread for its sake.
    const monotonic = () => {
      nowMs += 0.5
      return nowMs
    }
    const options = { directory: folder.path, sync: 'full', mode: 'workers' } as const
    store = await openSqliteStore({ ...options, busyTimeoutMs: 20, monotonic })
    let before = await record()
    while ((await store.measure()).journal.waitingBytes === 0) before = await record()
    const poll = (after?: number) => store.queryLogs(logQuery(home.workspaceId, { order: 'asc', after }))
    expect((await poll()).position).toBe(before.sequence)

    using other = new Database(databasePath(folder.path))
    other.run('BEGIN IMMEDIATE')
    const row = await record()
    for (const find of [() => store.getLog(row.sequence), () => store.getExecution(row.executionId)]) {
      expect(await rejectionOf(find())).toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryAfterS: 1 })
    }
    expect(await store.getLog(before.sequence)).toMatchObject({ executionId: before.executionId })
    expect(await poll()).toMatchObject({ position: before.sequence })
    expect(await poll(before.sequence)).toMatchObject({ count: 0, position: before.sequence, end: 'last' })
    other.run('ROLLBACK')
    expect(await store.getLog(row.sequence)).toMatchObject({ executionId: row.executionId })
    expect(entriesOf(await poll(before.sequence))).toMatchObject([{ executionId: row.executionId }])
    expect(await store.getExecution('none')).toBeUndefined()
  })

  test('keeps the order of groups that go different ways', async () => {
    const groups = Array.from({ length: 60 }, (_, index) => {
      const rows = Array.from({ length: index % 5 === 0 ? 6 : 1 }, (_, n) => logRow(home, sequence + 1 + n))
      sequence += rows.length
      return rows
    })
    await Promise.all(groups.map((group) => appendLogs(store, group)))
    const page = await store.queryLogs(logQuery(home.workspaceId))
    expect(page.count).toBe(sequence)
  })

  test('that was closed leaves nothing for the next start to look for', async () => {
    const row = await record()
    await store.close()
    for (const half of halves) writeFileSync(journalPath(databasePath(folder.path), half), 'nothing of a journal')
    store = await openSqliteStore({ directory: folder.path, sync: 'full', mode: 'workers' })
    expect(await store.lastSequence()).toBe(row.sequence)
    await untilJournaled(folder.path, () => record())
    expect(await store.lastSequence()).toBe(sequence)
  })

  test('whose journal belongs to another database starts, and takes nothing of it', async () => {
    using other = temporaryFolder()
    await record()
    const path = databasePath(folder.path)
    const second = await openSqliteStore({ directory: other.path, sync: 'full', mode: 'workers' })
    const there = await install(second)
    await untilJournaled(other.path, async () => {
      const row = logRow(there, (await second.lastSequence()) + 1)
      await appendLogs(second, [row])
    })
    const last = await second.lastSequence()
    await second.close()
    for (const half of halves) copyFileSync(journalPath(path, half), journalPath(databasePath(other.path), half))
    const again = await openSqliteStore({ directory: other.path, sync: 'full', mode: 'direct' })
    expect(await again.lastSequence()).toBe(last)
    await again.close()
  })
})
