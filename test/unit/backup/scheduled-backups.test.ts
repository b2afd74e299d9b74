import { expect, test } from 'bun:test'
import type { BackupRecord } from '../../../src/backup/backup-record.ts'
import { type MadeBackup, ScheduledBackups } from '../../../src/backup/scheduled-backups.ts'
import { ManualClock } from '../../support/clock.ts'

const hour = 3_600_000
const minute = 60_000

/** Scheduled backups whose attempts the test ends. */
class Scheduled {
  readonly clock = new ManualClock()
  record: BackupRecord | undefined
  readonly failures: string[] = []
  readonly pruneFailures: string[] = []
  readonly attempts: { signal: AbortSignal; end: PromiseWithResolvers<MadeBackup> }[] = []
  readonly backups = new ScheduledBackups({
    make: (signal) => {
      const end = Promise.withResolvers<MadeBackup>()
      signal.addEventListener('abort', () => end.reject(new Error('stopped')))
      this.attempts.push({ signal, end })
      return end.promise
    },
    read: async () => this.record,
    write: async (record) => {
      this.record = record
    },
    everyMs: hour,
    clock: this.clock,
    onFailure: (reason) => this.failures.push(reason),
    onPruneFailure: (reason) => this.pruneFailures.push(reason),
  })

  async succeed(more: Pick<MadeBackup, 'pruneFailure'> = {}): Promise<void> {
    this.attempts.at(-1)!.end.resolve({ bytes: 7, ...more })
    await this.settled()
  }

  async fail(): Promise<void> {
    this.attempts.at(-1)!.end.reject(new Error('no room'))
    await this.settled()
  }

  async settled(): Promise<void> {
    while (this.backups.state.isRunning) await Bun.sleep(0)
  }
}

test('the first backup begins 10 s after the start, and the next ones at the interval', async () => {
  const it = new Scheduled()
  await it.backups.open()
  it.clock.advance(9_999)
  expect(it.attempts.length).toBe(0)
  it.clock.advance(1)
  expect(it.attempts.length).toBe(1)
  it.clock.advance(5 * minute)
  await it.succeed()
  expect(it.backups.state).toMatchObject({ last: { bytes: 7 }, failure: undefined, succeeded: 1 })
  it.clock.advance(55 * minute - 1)
  expect(it.attempts.length).toBe(1)
  it.clock.advance(1)
  expect(it.attempts.length).toBe(2)
})

test('after a restart, the interval counts from the last good backup', async () => {
  const it = new Scheduled()
  it.record = { at: it.clock.now() - 20 * minute, bytes: 1 }
  await it.backups.open()
  expect(it.backups.state.last?.bytes).toBe(1)
  it.clock.advance(40 * minute - 1)
  expect(it.attempts.length).toBe(0)
  it.clock.advance(1)
  expect(it.attempts.length).toBe(1)
})

test('a time in the future, from a wrong clock, delays the next backup by one interval at most', async () => {
  const it = new Scheduled()
  it.record = { at: it.clock.now() + 1_000 * hour, bytes: 1 }
  await it.backups.open()
  it.clock.advance(hour)
  expect(it.attempts.length).toBe(1)
})

test('after failures it waits 1, 2, 4 … minutes, at most the interval, and keeps the last good backup', async () => {
  const it = new Scheduled()
  await it.backups.open()
  it.clock.advance(10_000)
  await it.succeed()
  it.clock.advance(hour)
  for (const waits of [1, 2, 4, 8, 16, 32, 60, 60]) {
    const before = it.attempts.length
    await it.fail()
    expect(it.backups.state).toMatchObject({ last: { bytes: 7 }, failure: 'no room' })
    it.clock.advance(waits * minute - 1)
    expect(it.attempts.length).toBe(before)
    it.clock.advance(1)
    expect(it.attempts.length).toBe(before + 1)
  }
  await it.succeed()
  expect(it.backups.state).toMatchObject({ failure: undefined, failed: 8, succeeded: 2 })
  expect(it.failures.length).toBe(8)
})

test('a backup that cannot delete old ones counts as made, and each problem is reported once', async () => {
  const it = new Scheduled()
  await it.backups.open()
  it.clock.advance(10_000)
  for (const reason of ['denied', 'denied', 'locked', undefined, 'locked']) {
    const before = it.attempts.length
    await it.succeed(reason === undefined ? {} : { pruneFailure: reason })
    expect(it.backups.state).toMatchObject({ failure: undefined, pruneFailure: reason, failed: 0 })
    it.clock.advance(hour - 1)
    expect(it.attempts.length).toBe(before)
    it.clock.advance(1)
    expect(it.attempts.length).toBe(before + 1)
  }
  expect(it.pruneFailures).toEqual(['denied', 'locked', 'locked'])
  expect(it.failures).toEqual([])
})

test('stopping ends a backup in progress and starts no more', async () => {
  const it = new Scheduled()
  await it.backups.open()
  it.clock.advance(10_000)
  await it.backups.stop()
  expect(it.attempts[0]!.signal.aborted).toBe(true)
  expect(it.failures).toEqual([])
  it.clock.advance(10 * hour)
  expect(it.attempts.length).toBe(1)
})
