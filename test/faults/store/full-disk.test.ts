import { expect, test } from 'bun:test'
import { appendFileSync, existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../../src/store/sqlite/open.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { reserveBytes, reserveName } from '../../../src/store/sqlite/upkeep/reserve.ts'
import type { RetentionStep, Store } from '../../../src/store/store.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { recordedIn } from '../../support/store/appending-process.ts'
import { newSubscription } from '../../support/store/contract/subscription-contract.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'
import { rejectionOf } from '../../support/store/rejection.ts'
import { smallDisk } from '../../support/store/small-disk.ts'

const megabyte = 1_048_576
const everything = { before: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 1 }

test.each(['continues', 'restarts'])(
  'on a disk without a free byte, a service that %s can delete old entries and then accepts runs again',
  async (how) => {
    using disk = smallDisk('160m')
    const directory = join(disk.path, 'data')
    const open = () => openSqliteStore({ directory, sync: 'full', mode: 'workers' })
    let store = await open()
    const home = await install(store)
    const reserve = join(directory, reserveName)
    while (!existsSync(reserve)) await store.retain({ ...everything, before: 0 })
    expect(statSync(reserve)).toMatchObject({ size: reserveBytes })

    const sizes = () =>
      ['', '-wal'].map((end) => statSync(databasePath(directory) + end, { throwIfNoEntry: false })?.size ?? 0)
    const size = () => sizes().reduce((sum, bytes) => sum + bytes, 0)
    const recorded: string[] = []
    // Waits until the helper thread is working.
    while (sizes()[0]! < megabyte) await record(store, home, recorded)
    fill(disk.path, 12 * megabyte)
    await recordUntilFull(store, home, recorded)
    fill(disk.path, 0)
    const bytesWhenFull = size()
    if (how !== 'continues') {
      await store.close()
      fill(disk.path, 0)
      store = await open()
    }
    expect(await recordedIn(store)).toEqual(new Set(recorded))
    expect(existsSync(reserve)).toBe(true)

    const keep = Math.floor(recorded.length / 2)
    let deleted = 0
    for (let done = false; !done; ) {
      const step = await store.retain({ ...everything, before: keep + 1 })
      deleted += step.entries
      done = step.done
    }
    expect(deleted).toBe(keep)
    expect(existsSync(reserve)).toBe(false)
    const sequence = recorded.length + 10
    for (let n = 0; n < 100; n += 1) await appendLogs(store, [logRow(home, sequence + n)])
    const left = await recordedIn(store)
    expect(left.size).toBe(recorded.length - keep + 100)
    for (const executionId of recorded.slice(keep)) expect(left.has(executionId)).toBe(true)
    await store.close()
    expect(size()).toBeLessThan(bytesWhenFull)
    expect(free(disk.path)).toBeGreaterThan(4 * megabyte)
  },
  120_000,
)

test('entries with pending webhook deliveries outlive the normal limits, but are deleted when the disk is full', async () => {
  using disk = smallDisk('160m')
  const directory = join(disk.path, 'data')
  const store = await openSqliteStore({ directory, sync: 'full', mode: 'workers' })
  const home = await install(store)
  const { number } = await store.createSubscription(home.workflowId, newSubscription('a'), 1)
  const webhooks = { deliveries: [{ subscription: number, include: 0 }], skipped: [], facts: null }
  const finalOutput = JSON.stringify(crypto.getRandomValues(new Uint8Array(20_000)).toBase64())
  const recorded: string[] = []
  for (let sequence = 1; sequence <= 50; sequence += 1) {
    const row = logRow(home, sequence, { finalOutput, webhooks })
    await appendLogs(store, [row])
    recorded.push(row.executionId)
  }
  /** One round, like `Retention`. Returns the number of deleted entries. */
  const retain = async () => {
    let deleted = 0
    for (let step: RetentionStep | undefined; !step?.done; ) {
      step = await store.retain({ ...everything, before: 51, after: step?.heldTo ?? 0 })
      deleted += step.entries
    }
    return deleted
  }
  expect(await retain()).toBe(0)
  while (!existsSync(join(directory, reserveName))) await retain()
  fill(disk.path, 0)
  // The WAL accepts whatever fits without more disk space.
  let sequence = 1_000
  const recordUntilRefused = async () => {
    for (;;) {
      sequence += 1
      await appendLogs(store, [logRow(home, sequence, { finalOutput, webhooks })])
    }
  }
  expect(await rejectionOf(recordUntilRefused())).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })

  // Deletes the oldest entries, as many as one step has time for. The reserve is used up then, and the disk has space.
  const gone = await retain()
  expect(gone).toBeWithin(1, 51)
  await appendLogs(store, [logRow(home, sequence + 1)])
  const left = await recordedIn(store)
  expect(recorded.filter((id) => left.has(id))).toEqual(recorded.slice(gone))
  await store.close()
}, 120_000)

/** Records a run with 20 KB of random bytes, and adds its execution ID to `recorded`. */
async function record(store: Store, home: Installed, recorded: string[]): Promise<void> {
  const finalOutput = JSON.stringify(crypto.getRandomValues(new Uint8Array(20_000)).toBase64())
  const row = logRow(home, recorded.length + 1, { finalOutput })
  await appendLogs(store, [row])
  recorded.push(row.executionId)
}

async function recordUntilFull(store: Store, home: Installed, recorded: string[]): Promise<void> {
  try {
    for (;;) await record(store, home, recorded)
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  }
}

const free = (path: string) => {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize
}

/** Writes to a disk until only `leave` bytes are free. */
function fill(path: string, leave: number): void {
  const ballast = join(path, 'ballast')
  try {
    while (free(path) > leave) appendFileSync(ballast, new Uint8Array(Math.min(megabyte, free(path) - leave)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
