import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { billingPeriodOf, type Cost } from '../../../src/domain/run/cost.ts'
import type { LogRow } from '../../../src/domain/run/log.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'
import { logQuery } from '../../support/store/log-model.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const server = postgresServer()
let url: string
let store: Store
let home: Installed
let sequence = 0

beforeAll(async () => {
  url = await server().createDatabase()
  store = await openPostgresStore({ url })
  home = await install(store)
})
afterAll(() => store.close())

const tokens = { prompt: 10, completion: 5, total: 15 }
const costOf = (...models: string[]): Cost => {
  const spent = { input: 1, output: 0, total: 1, tokens }
  return { total: models.length, tokens, models: Object.fromEntries(models.map((model) => [model, spent])) }
}
const endedAt = Date.UTC(2025, 5, 20)

/** The parts of an entry that the store writes besides its row, or that few rows have. */
const extras = {
  nothing: {},
  cost: { costTotal: 1, models: ['model'], cost: JSON.stringify(costOf('model')) },
  files: { files: { text: JSON.stringify([{ key: 'k', file: { size: 3 } }]), folder: 'w/f/e' } },
  webhooks: { webhooks: { deliveries: [{ subscription: 1, include: 0 }], skipped: [], facts: '{}' } },
  failure: {
    level: 'error',
    failure: { code: 'EXECUTION_FAILED', message: 'No', blockId: null, blockName: null },
    labels: { a: 'b' },
  },
} as const satisfies Record<string, Partial<LogRow>>
const kinds = Object.keys(extras) as (keyof typeof extras)[]

const newRow = (kind: keyof typeof extras = 'nothing') => {
  sequence += 1
  return logRow(home, sequence, { endedAt, ...extras[kind] })
}

async function totals() {
  const usage = (await store.listModelUsage(home.userId, 0)).find(({ model }) => model === 'model')
  return {
    entries: (await store.queryLogs(logQuery(home.workspaceId, { limit: 1_000_000 }))).count,
    cost: await store.getUsage(home.userId, billingPeriodOf(endedAt)),
    runsOfModel: usage?.runs ?? 0,
    files: (await store.getFileUsage(home.workspaceId)).files,
    deliveries: (await store.measure()).deliveries.pending,
  }
}

test('entries that are written again, alone or among others, are recorded and counted once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }),
      fc.array(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      async (chosen, groups) => {
        const before = await totals()
        const rows = chosen.map((kind) => newRow(kind))
        for (const members of groups) {
          const group = rows.filter((_, index) => members[index])
          if (group.length > 0) await appendLogs(store, group)
        }
        const written = chosen.filter((_, index) => groups.some((members) => members[index]))
        const count = (kind: string) => written.filter((each) => each === kind).length
        expect(await totals()).toEqual({
          entries: before.entries + written.length,
          cost: before.cost + count('cost'),
          runsOfModel: before.runsOfModel + count('cost'),
          files: before.files + count('files'),
          deliveries: before.deliveries + count('webhooks'),
        })
      },
    ),
    { numRuns: 60 },
  )
}, 60_000)

test('nothing of a group is written when one of its entries is refused, and the error says why', async () => {
  const taken = newRow()
  await appendLogs(store, [taken])
  const before = await totals()
  const nowhere = 'f7a2c9d0-0000-4000-8000-000000000000'
  for (const kind of kinds) {
    const refused: [Partial<LogRow>, RegExp | { code: string }][] = [
      [{ workflowId: nowhere }, { code: 'NOT_FOUND' }],
      [{ workspaceId: nowhere }, { code: 'NOT_FOUND' }],
      [{ sequence: taken.sequence }, /belongs to another run/],
      [{ executionId: taken.executionId }, /has a log entry already/],
      [{ finalOutput: '"\u001e"' }, /is not JSON/],
    ]
    for (const [fault, reason] of refused) {
      const error = await rejectionOf(appendLogs(store, [newRow(kind), { ...newRow(kind), ...fault }, newRow(kind)]))
      if (reason instanceof RegExp) expect((error as Error).message).toMatch(reason)
      else expect(error).toMatchObject(reason)
      expect(await totals()).toEqual(before)
    }
  }
}, 60_000)

test('groups of several processes that add to the same costs at the same time are all counted', async () => {
  const stores = [store, await openPostgresStore({ url }), await openPostgresStore({ url })]
  const before = await totals()
  const models = ['x', 'y', 'z']
  const add = async (each: Store, order: readonly string[]) => {
    for (let group = 0; group < 30; group += 1) {
      const rows = order.map((model) => {
        return { ...newRow(), costTotal: 1, models: [model], cost: JSON.stringify(costOf(model)) }
      })
      await appendLogs(each, rows)
    }
  }
  await Promise.all(stores.map((each, n) => add(each, [...models.slice(n), ...models.slice(0, n)])))
  expect((await totals()).cost).toBe(before.cost + 270)
  const usage = await store.listModelUsage(home.userId, 0)
  expect(models.map((model) => usage.find((each) => each.model === model)?.runs)).toEqual([90, 90, 90])
  for (const each of stores.slice(1)) await each.close()
}, 60_000)
