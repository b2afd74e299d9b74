import { describe, expect, test } from 'bun:test'
import { AccountLimits } from '../../../src/accounts/limits.ts'
import { RateWindowPersistence } from '../../../src/accounts/rate-window-persistence.ts'
import { tierOf } from '../../../src/accounts/tiers.ts'
import { Usage } from '../../../src/accounts/usage.ts'
import { resolveConfig } from '../../../src/config.ts'
import { defaultTiers, type TierLimits, type TierName, tiersOf } from '../../../src/domain/account/tiers.ts'
import { noCost } from '../../../src/domain/run/cost.ts'
import type { TriggerKind } from '../../../src/domain/workflow/workflow.ts'
import type { OwnTier, RateWindowRow } from '../../../src/store/account-store.ts'
import { ManualClock } from '../../support/clock.ts'

/** A run in June with a cost. */
const run = (workspaceId: string, total: number) => {
  const endedAt = Date.UTC(2025, 5, 20)
  return { workspaceId, endedAt, cost: { ...noCost, total }, trigger: 'api' as TriggerKind }
}

/** Sums on disk that a test can change and delay. */
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
  test('is read once a month and then updated with each run', async () => {
    const { usage, clock, sums, asked } = usageWorld()
    sums.set('u', 1.5)
    expect(usage.known('u')).toBeUndefined()
    expect(await usage.of('u')).toBe(1.5)
    usage.learnOwner('w', 'u')
    usage.add(run('w', 0.25))
    expect(await usage.of('u')).toBe(1.75)
    // A manual run counts against no limit.
    usage.add({ ...run('w', 3), trigger: 'manual' })
    expect(usage.known('u')).toBe(1.75)
    clock.setNow(Date.UTC(2025, 6, 1) - 1)
    expect(usage.known('u')).toBe(1.75)
    clock.setNow(Date.UTC(2025, 6, 1))
    expect(usage.known('u')).toBeUndefined()
    sums.set('u', 0)
    // It ended in June, so the sum of July stays the same.
    usage.add(run('w', 5))
    expect(await usage.of('u')).toBe(0)
    usage.add(run('w', 5))
    expect(await usage.of('u')).toBe(0)
    expect(asked).toEqual(['u 2025-06-01', 'u 2025-07-01'])
  })

  test('counts a run exactly once when it is recorded during a read', async () => {
    const { usage, sums, asked, hold } = usageWorld()
    const release = hold()
    const reading = usage.of('u')
    const alsoReading = usage.of('u')
    sums.set('u', 2)
    usage.learnOwner('w', 'u')
    usage.add(run('w', 2))
    release()
    expect(await reading).toBe(2)
    expect(await alsoReading).toBe(2)
    expect(await usage.of('u')).toBe(2)
    expect(asked).toHaveLength(2)
  })

  test('is read again after a run of an unknown workspace', async () => {
    const { usage, sums, asked } = usageWorld()
    await usage.of('u')
    sums.set('u', 3)
    usage.add(run('unknown', 3))
    expect(usage.known('u')).toBeUndefined()
    expect(await usage.of('u')).toBe(3)
    expect(asked).toHaveLength(2)
  })

  test('is remembered for a limited number of accounts', async () => {
    const { usage, asked } = usageWorld({ accountsMax: 2 })
    for (const who of ['a', 'b', 'c']) await usage.of(who)
    expect(usage.known('a')).toBeUndefined()
    expect(usage.known('c')).toBe(0)
    await usage.of('a')
    expect(asked).toHaveLength(4)
  })
})

describe('tiers', () => {
  const own = (plan: string | null, numbers: Partial<TierLimits> = {}): OwnTier => ({
    plan: plan as TierName | null,
    numbers,
  })

  test.each([
    ['free', [10, 10, 50, 10]],
    ['pro', [30, 25, 200, 20]],
    ['team', [60, 75, 500, 40]],
  ] as const)('%s has the numbers of the table', (name, numbers) => {
    const tier = tierOf(own(name), 'enterprise', defaultTiers)
    expect([tier.externalPerMinute, tier.syncPerMinute, tier.asyncPerMinute, tier.usdPerMonth]).toEqual([...numbers])
  })

  test("of an account take precedence over the installation's, unless unknown", () => {
    expect(tierOf(own('pro'), 'enterprise', defaultTiers).name).toBe('pro')
    expect(tierOf(own(null), 'team', defaultTiers).name).toBe('team')
    for (const name of ['', 'gold', 'constructor', '__proto__']) {
      expect(tierOf(own(name, { syncPerMinute: 7 }), 'free', defaultTiers)).toEqual({
        name: 'free',
        ...defaultTiers.free,
      })
    }
  })

  test('have numbers that are settings, and an account may have its own', () => {
    const { config } = resolveConfig({
      environment: { MILLRACE_PLAN_FREE_SYNC_PER_MINUTE: '3', MILLRACE_PLAN_PRO_USD_PER_MONTH: '0.5' },
    })
    const plans = tiersOf(config)
    expect(plans).toEqual({
      ...defaultTiers,
      free: { ...defaultTiers.free, syncPerMinute: 3 },
      pro: { ...defaultTiers.pro, usdPerMonth: 0.5 },
    })
    expect(tierOf(own('enterprise', { asyncPerMinute: 9 }), 'free', plans)).toEqual({
      name: 'enterprise',
      ...defaultTiers.enterprise,
      asyncPerMinute: 9,
    })
  })
})

describe('the limits of an account', () => {
  const world = (plan: TierName = 'free', windows: RateWindowRow[] = []) => {
    const { usage, clock, sums, hold } = usageWorld()
    const saved: RateWindowRow[] = []
    const users = new Map<string, OwnTier>([['u', { plan: null, numbers: {} }]])
    const save = async (rows: readonly RateWindowRow[]) => {
      saved.push(...rows)
      return []
    }
    const journal = new RateWindowPersistence({ save, clock })
    const limits = new AccountLimits({
      async findUser(id) {
        const own = users.get(id)
        return own && { id, email: 'u@example.org', hasPassword: false, createdAt: 0, ...own }
      },
      tiers: defaultTiers,
      tier: plan,
      usage,
      windowPersistence: journal,
      windows,
      visitors: { chatPerMinute: 20, webhookPerMinute: 600, formPerMinute: 1_000 },
      clock,
    })
    return { limits, usage, clock, sums, hold, users, journal, saved }
  }

  test('report the counters of requests, each kind separately', async () => {
    const { limits, clock, sums } = world()
    sums.set('u', 4)
    const account = await limits.account('u')
    limits.take('external', account)
    limits.take('sync', account)
    limits.take('sync', account)
    limits.take('async', account)
    const resetAt = clock.now() + 60_000
    expect(await limits.report('u')).toEqual({
      workflowExecutionRateLimit: {
        sync: { limit: 10, remaining: 8, resetAt },
        async: { limit: 50, remaining: 49, resetAt },
      },
      usage: { currentPeriodCost: 4, limit: 10, plan: 'free', isExceeded: false },
    })
    expect(limits.take('external', account).remaining).toBe(8)
  })

  test('are known immediately the second time, and a change of tier applies within 5 s', async () => {
    const { limits, clock, users } = world()
    await limits.account('u')
    expect(limits.account('u')).toMatchObject({ tier: { name: 'free' } })
    users.set('u', { plan: 'pro', numbers: {} })
    clock.advance(5_000)
    expect(await limits.account('u')).toMatchObject({ tier: { name: 'pro', syncPerMinute: 25 } })
  })

  test('are exceeded when the cost reaches them, whatever was in memory before', async () => {
    const { limits, usage, sums, users } = world()
    sums.set('u', 9.75)
    usage.learnOwner('w', 'u')
    limits.assertWithinUsage(await limits.account('u'))
    usage.add(run('w', 0.25))
    const account = await limits.account('u')
    expect(() => limits.assertWithinUsage(account)).toThrow('limit of its tier (free): 10 USD a month')
    expect((await limits.report('u')).usage).toMatchObject({ currentPeriodCost: 10, isExceeded: true })
    users.set('v', { plan: 'pro', numbers: {} })
    sums.set('v', 20)
    const unknown = limits.account('v')
    expect(unknown).toBeInstanceOf(Promise)
    const spent = await unknown
    expect(() => limits.assertWithinUsage(spent)).toThrow('20 USD')
  })

  test('restart with the month, once its sum has been read', async () => {
    const { limits, clock, sums } = world()
    sums.set('u', 10)
    const june = await limits.account('u')
    expect(() => limits.assertWithinUsage(june)).toThrow('USD')
    clock.setNow(Date.UTC(2025, 6, 1))
    sums.set('u', 0)
    const july = limits.account('u')
    expect(july).toBeInstanceOf(Promise)
    limits.assertWithinUsage(await july)
  })

  test('are never reached on an unlimited installation, and cost no writes there', async () => {
    const { limits, journal, saved } = world('enterprise')
    const account = await limits.account('u')
    for (let n = 0; n < 10_000; n += 1) expect(limits.take('sync', account).allowed).toBe(true)
    await journal.stop()
    expect(saved).toEqual([])
  })

  test('continue after a restart', async () => {
    const before = world()
    const account = await before.limits.account('u')
    for (let n = 0; n < 4; n += 1) before.limits.take('async', account)
    before.limits.take('external', account)
    before.clock.advance(1_000)
    await before.journal.stop()
    const { limits } = world('free', before.saved)
    const again = await limits.account('u')
    expect(limits.peek('async', again)).toMatchObject({ remaining: 46 })
    expect(limits.peek('external', again)).toMatchObject({ remaining: 9 })
    expect(limits.peek('sync', again)).toMatchObject({ remaining: 10 })
  })
})
