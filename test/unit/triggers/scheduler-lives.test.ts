import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { missedPolicies, overlaps } from '../../../src/domain/schedule/schedule.ts'
import { timetableOf } from '../../../src/language/timetable.ts'
import { everyMinute, ScheduleWorld } from './schedule-world.ts'

const noon = Date.UTC(2025, 5, 1, 12)
const second = 1_000

test('however often the service is killed, no due time runs twice, and each has the outcome of its policy', async () => {
  const policies = fc.record({
    overlap: fc.constantFrom(...overlaps),
    missed: fc.constantFrom(...missedPolicies),
    missedMax: fc.integer({ min: 1, max: 5 }),
    cron: fc.constantFrom('* * * * *', '*/3 * * * *', '*/20 * * * * *'),
  })
  const lives = fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 900 })), {
    minLength: 1,
    maxLength: 6,
  })
  await fc.assert(
    fc.asyncProperty(policies, lives, async (policy, spans) => {
      // A time at which nothing is due.
      await using world = await ScheduleWorld.open(noon + 500)
      const rule = { ...everyMinute, ...policy }
      const { next } = timetableOf(rule)
      const between = (from: number, to: number) => {
        const times: number[] = []
        for (let at = next(from); at !== null && at <= to; at = next(at)) times.push(at)
        return times
      }
      await world.deploy(policy)
      const expected: number[] = []
      let downSince = world.clock.now()
      for (const [aliveS, downS] of spans) {
        const openedAt = world.clock.now()
        const missed = between(downSince, openedAt)
        if (rule.missed === 'once') expected.push(...missed.slice(-1))
        if (rule.missed === 'all') expected.push(...missed.slice(-rule.missedMax))
        await world.begin()
        await world.pass(aliveS * second)
        downSince = world.clock.now()
        expected.push(...between(openedAt, downSince))
        await world.kill()
        world.clock.advance(downS * second)
      }
      expect(world.dueTimes).toEqual(expected)
      expect(new Set(world.dueTimes).size).toBe(world.dueTimes.length)
    }),
    { numRuns: 40 },
  )
}, 120_000)
