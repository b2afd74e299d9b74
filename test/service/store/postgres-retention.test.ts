import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sequenceAt } from '../../../src/domain/ids.ts'
import { parseAddress } from '../../../src/store/postgres/address.ts'
import { Database } from '../../../src/store/postgres/connection.ts'
import { migrate } from '../../../src/store/postgres/migrations/migrations.ts'
import { listPartitions, makePartitions } from '../../../src/store/postgres/upkeep/partitions.ts'
import { retainLogs } from '../../../src/store/postgres/upkeep/retention.ts'
import { endAttempts, sendAgain } from '../../../src/store/postgres/writes/deliveries.ts'
import type { RetentionBounds } from '../../../src/store/store.ts'
import { endedAttempt } from '../../support/store/ended-attempt.ts'
import { addBelongings, createHome, recordEntries, retainAll, sequencesIn } from '../../support/store/postgres-log.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'

const dayMs = 86_400_000
const today = Math.floor(Date.now() / dayMs) * dayMs
/** The sequence of an entry: some days ago, number `index` of its day. */
const daysAgo = (days: number, index = 0) => sequenceAt(today - days * dayMs) + index
const many = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)
const unbounded = Number.MAX_SAFE_INTEGER
const belongings = ['deliveries', 'delivery_attempts', 'run_webhooks', 'job_outputs']

let url: string
let database: Database

const server = postgresServer()
beforeEach(async () => {
  url = await server().createDatabase()
  database = new Database({ address: parseAddress(url), connectionsMax: 4 })
  await migrate(database)
  await createHome(database)
})
afterEach(() => database.close())

const retain = (bounds: RetentionBounds) => retainLogs(database, bounds)
const entries = () => sequencesIn(database, 'logs')
const endDelivery = (sequence: number, subscription = 1) =>
  database.write((sql) =>
    endAttempts(sql, [endedAttempt({ sequence, subscription }, { state: 'delivered', dueAt: null })]),
  )
/** Partitions of the last six days, today and the next days. */
const makeAll = async () => {
  for (const days of [6, 3, 0]) await makePartitions(database, today - days * dayMs)
}
const attached = async () => (await listPartitions(database)).filter(({ isAttached }) => isAttached)

describe('partitions', () => {
  test('exist for today and the next days, also when several processes make them at once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => makePartitions(database, today + 5)))
    await makePartitions(database, today + 5)
    const made = await attached()
    expect(made.map(({ first }) => first)).toEqual([0, -1, -2, -3].map((days) => daysAgo(days)))
    expect(made.map(({ end }) => end)).toEqual([-1, -2, -3, -4].map((days) => daysAgo(days)))
  }, 20_000)

  test('receive the entries of their day that were recorded before', async () => {
    const sequences = [daysAgo(2), daysAgo(0), daysAgo(0, 1), daysAgo(-1), daysAgo(-9)]
    await recordEntries(database, sequences)
    await makePartitions(database, today)
    await recordEntries(database, [daysAgo(0, 2)])
    expect(await sequencesIn(database, 'logs_default')).toEqual([daysAgo(2), daysAgo(-9)])
    expect(await entries()).toEqual([...sequences, daysAgo(0, 2)].toSorted((one, other) => one - other))
  }, 20_000)

  test('are made while entries are read and recorded', async () => {
    let isDone = false
    const recording = (async () => {
      let index = 0
      while (!isDone) {
        for (const days of [0, 4, 8]) await recordEntries(database, [daysAgo(days, index)])
        index += 1
        await entries()
      }
      return 3 * index
    })()
    try {
      for (const days of [0, 4, 8]) await makePartitions(database, today - days * dayMs)
    } finally {
      isDone = true
    }
    const recorded = await recording
    expect(await entries()).toHaveLength(recorded)
    expect(await sequencesIn(database, 'logs_default')).toEqual([])
  }, 20_000)
})

describe('entries that are too old', () => {
  test('are deleted with everything that belongs to them; files stay known until they are deleted', async () => {
    await makeAll()
    const sequences = [...many(daysAgo(1), 3), ...many(daysAgo(0), 3)]
    await recordEntries(database, sequences)
    for (const sequence of sequences) {
      await addBelongings(database, sequence)
      await endDelivery(sequence)
    }
    const step = await retainAll(retain, { before: daysAgo(0, 1), bytesMax: unbounded })
    expect(step).toMatchObject({ entries: 4, heldTo: 0, leftBytes: 0, done: true })
    const left = many(daysAgo(0, 1), 2)
    expect(await entries()).toEqual(left)
    for (const table of belongings) expect(await sequencesIn(database, table)).toEqual(left)
    const gone = await database.all<{ sequence: number }>(
      'SELECT sequence FROM millrace.run_files WHERE gone ORDER BY sequence',
    )
    expect(gone.map(({ sequence }) => sequence)).toEqual(sequences.slice(0, 4))
  })

  test('disappear with their partition, whose space is returned', async () => {
    await makeAll()
    const old = [...many(daysAgo(3), 2_500), ...many(daysAgo(2), 10)]
    for (let from = 0; from < old.length; from += 500) {
      await recordEntries(database, old.slice(from, from + 500), 3_000)
    }
    await recordEntries(database, [daysAgo(1), daysAgo(0)])
    for (const sequence of [daysAgo(3), daysAgo(2, 9), daysAgo(1)]) {
      await addBelongings(database, sequence)
      await endDelivery(sequence)
    }
    const step = await retainAll(retain, { before: daysAgo(1), bytesMax: unbounded })
    expect(step.entries).toBe(2_510)
    expect(step.bytesFreed).toBeGreaterThan(2_500 * 3_000)
    expect((await listPartitions(database))[0]).toMatchObject({ first: daysAgo(1), isAttached: true })
    expect(await entries()).toEqual([daysAgo(1), daysAgo(0)])
    for (const table of belongings) expect(await sequencesIn(database, table)).toEqual([daysAgo(1)])
  }, 20_000)

  test('stay while one of their deliveries is pending; the others of the same day go', async () => {
    await makeAll()
    await recordEntries(database, [...many(daysAgo(2), 5), daysAgo(0)])
    await addBelongings(database, daysAgo(2, 1), [1, 2])
    await endDelivery(daysAgo(2, 1), 1)
    const first = await retainAll(retain, { before: daysAgo(1), bytesMax: unbounded })
    expect(first.entries).toBe(4)
    expect(first.heldTo).toBeGreaterThanOrEqual(daysAgo(2, 1))
    expect(await entries()).toEqual([daysAgo(2, 1), daysAgo(0)])
    expect(await sequencesIn(database, 'deliveries')).toEqual([daysAgo(2, 1)])
    await endDelivery(daysAgo(2, 1), 2)
    expect(await retainAll(retain, { before: daysAgo(1), bytesMax: unbounded })).toMatchObject({
      entries: 1,
      heldTo: 0,
    })
    expect(await entries()).toEqual([daysAgo(0)])
    expect(await sequencesIn(database, 'deliveries')).toEqual([])
    expect((await attached())[0]?.first).toBeGreaterThan(daysAgo(2))
  })

  test('are deleted completely although the process that began it has died', async () => {
    await makeAll()
    await recordEntries(database, [...many(daysAgo(2), 3), daysAgo(0)])
    await addBelongings(database, daysAgo(2))
    await endDelivery(daysAgo(2))
    const bounds = { before: daysAgo(0), bytesMax: unbounded, workMs: 0 }
    // The empty partitions before it go first.
    while ((await entries()).length > 1) await retain(bounds)
    expect(await sequencesIn(database, 'deliveries')).toEqual([daysAgo(2)])
    expect(await sendAgain(database, { sequence: daysAgo(2), subscription: 1 }, 9)).toBe(false)
    await database.close()
    database = new Database({ address: parseAddress(url), connectionsMax: 4 })
    expect(await retainAll(retain, bounds)).toMatchObject({ entries: 3 })
    for (const table of belongings) expect(await sequencesIn(database, table)).toEqual([])
    expect((await listPartitions(database))[0]?.first).toBeGreaterThan(daysAgo(2))
  })

  test('are deleted once when several processes delete them', async () => {
    await makeAll()
    await recordEntries(database, [...many(daysAgo(3), 400), ...many(daysAgo(1), 400), daysAgo(0)])
    const bounds = { before: daysAgo(1, 350), bytesMax: unbounded }
    const steps = await Promise.all(Array.from({ length: 3 }, () => retainAll(retain, bounds)))
    const last = await retainAll(retain, bounds)
    expect(steps.reduce((sum, step) => sum + step.entries, last.entries)).toBe(750)
    expect(await entries()).toEqual([...many(daysAgo(1, 350), 50), daysAgo(0)])
  })

  test('go as rows while somebody reads the log for long, and nobody waits for that reader', async () => {
    await makeAll()
    await recordEntries(database, [...many(daysAgo(2), 5), daysAgo(0)])
    const bounds = { before: daysAgo(1), bytesMax: unbounded }
    await database.write(async (sql) => {
      expect(await sql.all('SELECT sequence FROM millrace.logs')).toHaveLength(6)
      expect(await retain({ ...bounds, workMs: 5_000 })).toMatchObject({ entries: 5, done: true })
      await recordEntries(database, [daysAgo(0, 1)])
      expect((await attached())[0]?.first).toBe(daysAgo(6))
    })
    await retainAll(retain, bounds)
    expect((await attached())[0]?.first).toBeGreaterThan(daysAgo(2))
    expect(await entries()).toEqual([daysAgo(0), daysAgo(0, 1)])
  })
})

describe('a log that is too large', () => {
  const entryBytes = 4_000
  const record = async (sequences: readonly number[]) => {
    for (let from = 0; from < sequences.length; from += 500) {
      await recordEntries(database, sequences.slice(from, from + 500), entryBytes)
    }
  }

  test('loses its oldest entries until the others fit, before and after PostgreSQL reuses their space', async () => {
    await makePartitions(database, today)
    await record(many(daysAgo(0), 4_000))
    const bytesMax = 3_000 * entryBytes
    const bounds = { before: 0, bytesMax }
    const first = await retainAll(retain, bounds)
    expect(first.usedBytes).toBeLessThanOrEqual(bytesMax)
    const left = (await entries()).length
    expect(left).toBeGreaterThan(2_000)
    expect(left).toBeLessThan(3_000)
    expect((await entries())[0]).toBe(daysAgo(0, 4_000 - left))
    await database.run('VACUUM ANALYZE millrace.logs')
    expect(await retainAll(retain, bounds)).toMatchObject({ entries: 0 })
    await record(many(daysAgo(0, 4_000), 1_000))
    await retainAll(retain, bounds)
    const later = await entries()
    expect(Math.abs(later.length - left)).toBeLessThan(left / 10)
    expect(later.at(-1)).toBe(daysAgo(0, 4_999))
  }, 20_000)

  test('loses whole partitions first, and no more of them than necessary', async () => {
    await makeAll()
    for (const days of [4, 3, 2, 1]) await record(many(daysAgo(days), 1_000))
    const bytesMax = 2_500 * entryBytes
    const step = await retainAll(retain, { before: 0, bytesMax })
    expect(step.bytesFreed).toBeGreaterThan(1_000 * entryBytes)
    const left = await entries()
    expect((await attached())[0]?.first).toBeGreaterThan(daysAgo(4))
    expect(step.usedBytes).toBeLessThanOrEqual(bytesMax)
    expect(left.length).toBeGreaterThan(1_500)
    expect(left.length).toBeLessThan(2_500)
    expect(left.at(-1)).toBe(daysAgo(1, 999))
  }, 20_000)

  test('keeps entries with pending deliveries', async () => {
    await makeAll()
    await record(many(daysAgo(1), 300))
    await addBelongings(database, daysAgo(1, 7))
    const step = await retainAll(retain, { before: 0, bytesMax: 1 })
    expect(step.entries).toBe(299)
    expect(await entries()).toEqual([daysAgo(1, 7)])
  })
})
