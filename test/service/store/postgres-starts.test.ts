import { afterEach, expect, test } from 'bun:test'
import type { SharedGroupAsk } from '../../../src/domain/run/shared-starts.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const server = postgresServer()
const open: Store[] = []
afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
})

/** Several processes that serve one installation. */
async function processes(count: number) {
  const url = await server().createDatabase()
  for (let index = 0; index < count; index += 1) {
    const serves = { version: '1', url: `http://127.0.0.1:${index + 1}`, usesFolder: false, clock: new ManualClock() }
    open.push(await openPostgresStore({ url, serves }))
  }
  return { url, stores: [...open] as [Store, Store, ...Store[]] }
}

const askOf = (key: string, more: Partial<SharedGroupAsk> = {}): SharedGroupAsk => ({
  ...{ workflowId: 'w', key, beyond: 'refuse', queueMax: 10, running: 0, waiting: 0, starts: [] },
  ...more,
})
const newStarts = (count: number) =>
  Array.from({ length: count }, () => ({ executionId: crypto.randomUUID(), hasStarted: false, isNew: true }))

test('processes that ask at the same time never get too many slots', async () => {
  const { stores } = await processes(3)
  const keys = ['a', 'b', 'c\0"\ud800']
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      // The processes ask in different orders, which must not cause a deadlock.
      stores.map((store, index) => {
        const asks = keys.map((key) => askOf(key, { concurrency: 5, starts: newStarts(4) }))
        return store.exchangeStarts(index === 1 ? asks.toReversed() : asks)
      }),
    )
    const granted = answers.flat().reduce((sum, each) => sum + each.granted.length, 0)
    expect(granted).toBe(keys.length * 5)
    expect(answers.flat().reduce((sum, each) => sum + each.refused.length, 0)).toBe(keys.length * 7)
    await Promise.all(stores.map((store) => store.exchangeStarts(keys.map((key) => askOf(key, { concurrency: 5 })))))
  }
})

test('starts in the window of a rate count for every process, even after their runs have ended', async () => {
  const { url, stores } = await processes(2)
  const rate = { count: 3, windowMs: 60_000 }
  const [first] = await stores[0].exchangeStarts([askOf('k', { rate, starts: newStarts(2) })])
  const [second] = await stores[1].exchangeStarts([askOf('k', { rate, starts: newStarts(2) })])
  expect([first?.granted.length, second?.granted.length, second?.refused.length]).toEqual([2, 1, 1])
  expect(second?.retryAfterMs).toBeWithin(50_000, 60_001)
  await Promise.all(stores.map((store) => store.exchangeStarts([askOf('k', { rate })])))
  const rows = await queryPostgres<{ owners: number[] }>(url, 'SELECT owners FROM millrace.start_groups')
  expect(rows.map(({ owners }) => [...owners])).toEqual([[]])
  const [later] = await stores[0].exchangeStarts([askOf('k', { rate, starts: newStarts(1) })])
  expect(later?.granted).toEqual([])
})

test('a group without starts leaves no row', async () => {
  const { url, stores } = await processes(1)
  await stores[0].exchangeStarts([askOf('k', { concurrency: 1, starts: newStarts(1) })])
  expect(await queryPostgres(url, 'SELECT key FROM millrace.start_groups')).toHaveLength(1)
  await stores[0].exchangeStarts([askOf('k', { concurrency: 1 })])
  expect(await queryPostgres(url, 'SELECT key FROM millrace.start_groups')).toHaveLength(0)
})

test('the slots of a process become free when it leaves', async () => {
  const { stores } = await processes(2)
  const ask = () => askOf('k', { concurrency: 1, starts: newStarts(1) })
  await stores[0].exchangeStarts([ask()])
  expect((await stores[1].exchangeStarts([ask()]))[0]?.granted).toEqual([])
  await stores[0].close()
  open.splice(0, 1)
  expect((await stores[1].exchangeStarts([ask()]))[0]?.granted).toHaveLength(1)
})

test('upkeep deletes expired rates, but keeps groups with runs', async () => {
  const { url, stores } = await processes(1)
  const rate = { count: 3, windowMs: 1 }
  await stores[0].exchangeStarts([
    askOf('over', { rate, starts: newStarts(1) }),
    askOf('running', { rate, starts: newStarts(1) }),
  ])
  await queryPostgres(url, "UPDATE millrace.start_groups SET owners = '{}' WHERE key = 'over'")
  await stores[0].checkIn({ runs: 0 })
  await stores[0].retain({ before: 0, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 1_000 })
  const rows = await queryPostgres<{ key: string }>(url, 'SELECT key FROM millrace.start_groups')
  expect(rows.map(({ key }) => key)).toEqual(['running'])
})
