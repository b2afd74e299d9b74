import { describe, expect, test } from 'bun:test'
import { AccountLimits } from '../../src/accounts/limits.ts'
import { type PlanName, planOf } from '../../src/accounts/plans.ts'
import { Usage } from '../../src/accounts/usage.ts'
import { ManualClock } from '../clock.ts'

/** Sums on disk that a test changes and holds back. */
function usageWorld(options: { accountsMax?: number } = {}) {
  const clock = new ManualClock(Date.UTC(2025, 5, 15))
  const sums = new Map<string, number>()
  const asked: string[] = []
  let gate: PromiseWithResolvers<void> | undefined
  const usage = new Usage({
    clock,
    ...options,
    async getUsage(userId, periodStart) {
      asked.push(`${userId} ${new Date(periodStart).toISOString().slice(0, 10)}`)
      const sum = sums.get(userId) ?? 0
      await gate?.promise
      return sum
    },
  })
  return {
    clock,
    sums,
    asked,
    usage,
    hold() {
      const held = Promise.withResolvers<void>()
      gate = held
      return () => {
        gate = undefined
        held.resolve()
      }
    },
  }
}

describe('usage', () => {
  test('is read once a month and counted along', async () => {
    const { usage, clock, sums, asked } = usageWorld()
    sums.set('u', 1.5)
    expect(usage.known('u')).toBeUndefined()
    expect(await usage.of('u')).toBe(1.5)
    usage.add('u', 0.25)
    expect(await usage.of('u')).toBe(1.75)
    expect(usage.known('u')).toBe(1.75)
    clock.setNow(Date.UTC(2025, 6, 1) - 1)
    expect(usage.known('u')).toBe(1.75)
    clock.setNow(Date.UTC(2025, 6, 1))
    expect(usage.known('u')).toBeUndefined()
    sums.set('u', 0)
    usage.add('u', 5)
    expect(await usage.of('u')).toBe(0)
    expect(asked).toEqual(['u 2025-06-01', 'u 2025-07-01'])
  })

  test('counts a run exactly once when it is recorded while the sum is read', async () => {
    const { usage, sums, asked, hold } = usageWorld()
    const release = hold()
    const reading = usage.of('u')
    const alsoReading = usage.of('u')
    sums.set('u', 2)
    usage.add('u', 2)
    release()
    expect(await reading).toBe(2)
    expect(await alsoReading).toBe(2)
    expect(await usage.of('u')).toBe(2)
    expect(asked).toHaveLength(2)
  })

  test('remembers a bounded number of accounts', async () => {
    const { usage, asked } = usageWorld({ accountsMax: 2 })
    for (const who of ['a', 'b', 'c']) await usage.of(who)
    expect(usage.known('a')).toBeUndefined()
    expect(usage.known('c')).toBe(0)
    await usage.of('a')
    expect(asked).toHaveLength(4)
  })
})

describe('plans', () => {
  test.each([
    ['free', [10, 10, 50, 10]],
    ['pro', [30, 25, 200, 20]],
    ['team', [60, 75, 500, 40]],
  ] as const)('%s has the numbers of the table', (name, numbers) => {
    const plan = planOf(name, 'enterprise')
    expect([plan.externalPerMinute, plan.syncPerMinute, plan.asyncPerMinute, plan.usdPerMonth]).toEqual([...numbers])
  })

  test('of an account goes before the installation, unless it is none', () => {
    expect(planOf('pro', 'enterprise').name).toBe('pro')
    expect(planOf(null, 'team').name).toBe('team')
    for (const name of ['', 'gold', 'constructor', '__proto__']) expect(planOf(name, 'free').name).toBe('free')
  })
})

describe('the limits of an account', () => {
  const world = (plan: PlanName = 'free') => {
    const { usage, clock, sums } = usageWorld()
    return { limits: new AccountLimits({ plan, usage, clock }), usage, clock, sums }
  }
  const account = { userId: 'u', plan: null }

  test('show the counters that requests are counted in, kinds apart', async () => {
    const { limits, clock, sums } = world()
    sums.set('u', 4)
    limits.takeExternal(account)
    limits.takeSync(account)
    limits.takeSync(account)
    const resetAt = clock.now() + 60_000
    expect(await limits.report(account)).toEqual({
      workflowExecutionRateLimit: {
        sync: { limit: 10, remaining: 8, resetAt },
        async: { limit: 50, remaining: 50, resetAt },
      },
      usage: { currentPeriodCost: 4, limit: 10, plan: 'free', isExceeded: false },
    })
    expect(limits.takeExternal(account).remaining).toBe(8)
  })

  test('are exceeded when the cost reaches them', async () => {
    const { limits, usage, sums } = world()
    sums.set('u', 9.75)
    await usage.of('u')
    limits.assertWithinUsage(account)
    usage.add('u', 0.25)
    expect(() => limits.assertWithinUsage(account)).toThrow('10 USD a month of its plan (free)')
    expect((await limits.report(account)).usage).toMatchObject({ currentPeriodCost: 10, isExceeded: true })
    limits.assertWithinUsage({ ...account, plan: 'pro' })
  })

  test('are met by nobody on an installation of their own', () => {
    const { limits } = world('enterprise')
    for (let n = 0; n < 10_000; n += 1) expect(limits.takeSync(account).allowed).toBe(true)
  })
})
