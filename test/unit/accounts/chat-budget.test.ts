import { expect, test } from 'bun:test'
import { ChatBudget } from '../../../src/accounts/chat-budget.ts'
import { newExecutionId, sequenceAt } from '../../../src/domain/ids.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { install, logRow } from '../../support/store/installed.ts'

const chat = { workspaceId: 'w', workflowId: 'f' }
const run = (usd: number, trigger: 'chat' | 'api' = 'chat') => ({ workflowId: 'f', trigger, cost: { total: usd } })
const over = { code: 'USAGE_LIMIT_EXCEEDED', message: expect.stringContaining('MILLRACE_PUBLIC_CHAT_USD_PER_DAY') }

function budgetWith(read: (since: number) => number | Promise<number>) {
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 13))
  const reads: number[] = []
  const reached: string[] = []
  const budget = new ChatBudget({
    getChatCost: async (_, since) => {
      reads.push(since)
      return await read(since)
    },
    usdPerDay: 10,
    onReached: (workflowId) => reached.push(workflowId),
    clock,
  })
  return { budget, clock, reads, reached }
}

test('a chat is refused after the run that reaches its limit, until the next day', async () => {
  const { budget, clock, reads, reached } = budgetWith((since) => (since === Date.UTC(2026, 0, 5) ? 8 : 0))
  await budget.assertWithin(chat)
  budget.add(run(1.5))
  budget.add(run(5, 'api'))
  await budget.assertWithin(chat)
  budget.add(run(0.5))
  await expect(budget.assertWithin(chat)).rejects.toMatchObject(over)
  budget.add(run(1))
  expect([reads.length, reached]).toEqual([1, ['f']])
  clock.advance(11 * 3_600_000)
  await budget.assertWithin(chat)
  expect(reads).toEqual([Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 6)])
})

test('a run that is recorded while the sum is read is counted once', async () => {
  const first = Promise.withResolvers<number>()
  const sums = [first.promise, 12]
  const { budget, reads } = budgetWith(() => sums.shift() ?? 0)
  const asked = [budget.assertWithin(chat), budget.assertWithin(chat)]
  budget.add(run(4))
  first.resolve(8)
  const outcomes = await Promise.allSettled(asked)
  expect(outcomes).toMatchObject([{ reason: over }, { reason: over }])
  expect(reads).toHaveLength(2)
})

test('after a failure of the store, the sum is read again', async () => {
  const sums = [Promise.reject(new Error('The disk is gone')), 1]
  const { budget } = budgetWith(() => sums.shift() ?? 0)
  await expect(budget.assertWithin(chat)).rejects.toThrow('The disk is gone')
  await budget.assertWithin(chat)
})

test('after a restart, the log knows what the chat runs of the day have cost', async () => {
  using folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
  const home = await install(store)
  const midnight = Date.UTC(2026, 0, 5)
  const runs = [
    { at: midnight - 1, trigger: 'chat' as const, costTotal: 1 },
    { at: midnight, trigger: 'chat' as const, costTotal: 2 },
    { at: midnight + 5, trigger: 'api' as const, costTotal: 4 },
    { at: midnight + 9, trigger: 'chat' as const, costTotal: 8 },
  ]
  for (const { at, ...cost } of runs) {
    await appendLogs(store, [logRow(home, sequenceAt(at), { executionId: newExecutionId(), ...cost })])
  }
  expect(await store.getChatCost(home, midnight)).toBe(10)
  expect(await store.getChatCost(home, midnight + 10)).toBe(0)
  await store.close()
})
