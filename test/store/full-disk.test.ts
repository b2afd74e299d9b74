import { expect, test } from 'bun:test'
import { appendFileSync, existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../src/store/sqlite/open.ts'
import { reserveBytes, reserveName } from '../../src/store/sqlite/reserve.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { appendLogs } from './append-logs.ts'
import { recordedIn } from './appending-process.ts'
import { type Installed, install, logRow } from './installed.ts'
import { smallDisk } from './small-disk.ts'

// Mounted and unmounted again: whether this user may.
const trial = smallDisk('1m')
trial?.[Symbol.dispose]()
if (!trial)
  console.warn('SKIPPED retention on a full disk: mounting a small tmpfs is not permitted here (it takes root).')

const megabyte = 1_048_576
const everything = { before: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 1 }

test.skipIf(!trial).each(['goes on', 'starts again'])(
  'on a disk without a free byte old entries can be deleted, by a service that %s, and runs are taken again',
  async (how) => {
    using disk = smallDisk('150m')!
    const directory = join(disk.path, 'data')
    const open = () => openSqliteStore({ directory, sync: 'full', mode: 'workers' })
    let store = await open()
    const home = await install(store)
    const reserve = join(directory, reserveName)
    while (!existsSync(reserve)) await store.retain({ ...everything, before: 0 })
    expect(statSync(reserve)).toMatchObject({ size: reserveBytes })

    fill(disk.path, 20 * megabyte)
    const recorded = await recordUntilFull(store, home)
    fill(disk.path, 0)
    const bytesWhenFull = statSync(databasePath(directory)).size
    if (how !== 'goes on') {
      await store.close()
      fill(disk.path, 0)
      store = await open()
    }
    expect(await recordedIn(store)).toEqual(new Set(recorded))
    expect(existsSync(reserve)).toBe(true)

    const keep = Math.floor(recorded.length / 2)
    let steps = 0
    while (!(await store.retain({ ...everything, before: keep + 1 })).done) steps += 1
    expect(steps).toBeGreaterThan(0)
    expect(existsSync(reserve)).toBe(false)
    const sequence = recorded.length + 10
    for (let n = 0; n < 100; n += 1) await appendLogs(store, [logRow(home, sequence + n)])
    const left = await recordedIn(store)
    expect(left.size).toBe(recorded.length - keep + 100)
    for (const executionId of recorded.slice(keep)) expect(left.has(executionId)).toBe(true)
    await store.close()
    expect(statSync(databasePath(directory)).size).toBeLessThan(bytesWhenFull)
    expect(free(disk.path)).toBeGreaterThan(4 * megabyte)
  },
  30_000,
)

/** Runs of 20 KB of noise. Answers the execution ids of all that were recorded. */
async function recordUntilFull(store: Store, home: Installed): Promise<string[]> {
  const recorded: string[] = []
  for (;;) {
    const finalOutput = JSON.stringify(crypto.getRandomValues(new Uint8Array(20_000)).toBase64())
    const row = logRow(home, recorded.length + 1, { finalOutput })
    try {
      await appendLogs(store, [row])
    } catch (error) {
      expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      return recorded
    }
    recorded.push(row.executionId)
  }
}

const free = (path: string) => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Writes to a disk until only so much of it is free. */
function fill(path: string, leave: number): void {
  const ballast = join(path, 'ballast')
  try {
    while (free(path) > leave) appendFileSync(ballast, new Uint8Array(Math.min(megabyte, free(path) - leave)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
