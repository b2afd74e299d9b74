import { describe, expect, test } from 'bun:test'
import type { overlaps } from '../../../src/domain/schedule/schedule.ts'
import { ScheduleWorld } from './schedule-world.ts'

const noon = Date.UTC(2025, 5, 1, 12)
const second = 1_000
const minute = 60_000
const hour = 60 * minute
const minutesAfter = (...numbers: number[]) => numbers.map((number) => noon + number * minute)

describe('a schedule', () => {
  test('runs at every due time, even once a second', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy({ cron: '* * * * * *' })
    await world.pass(10 * minute)
    expect(world.dueTimes).toEqual(Array.from({ length: 600 }, (_, index) => noon + (index + 1) * second))
    expect(world.started.filter(({ dueAt, firedAt }) => dueAt !== firedAt)).toEqual([])
  })

  test('is replaced by the next deployment, and removed by undeploying', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    const id = await world.deploy({})
    await world.pass(2 * minute)
    await world.deploy({ cron: '*/5 * * * *' }, id)
    await world.pass(8 * minute)
    await world.undeploy(id)
    await world.pass(10 * minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2, 5, 10))
  })

  test('starts and ends at its configured times', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy({ startAt: noon + 2 * minute, endAt: noon + 4 * minute })
    await world.pass(10 * minute)
    expect(world.dueTimes).toEqual(minutesAfter(2, 3, 4))
    // No timer is left.
    await world.pass(second)
    expect(world.clock.pending).toBe(0)
  })

  test('with jitter starts up to that much later, and does not count as missed', async () => {
    await using world = await ScheduleWorld.open(noon)
    world.random = 0.5
    await world.deploy({ cron: '*/10 * * * *', jitterMs: 2 * minute, missed: 'skip' })
    await world.begin()
    await world.pass(10.5 * minute)
    await world.kill()
    await world.begin()
    await world.pass(10 * minute)
    expect(world.dueTimes).toEqual(minutesAfter(10))
    expect(world.started[0]?.firedAt).toBe(noon + 11 * minute)
  })

  test('skips each due time while its owner exceeds a limit', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy({ overlap: 'queue' })
    world.beforeStart = () => 'rate'
    await world.pass(2 * minute)
    world.beforeStart = () => undefined
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(3))
    expect(world.outcomes.map(({ outcome }) => outcome)).toEqual(['rate', 'rate', 'started'])
  })

  test('starts as soon as the store becomes readable', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.deploy({})
    world.failsToRead = true
    await world.begin()
    await world.pass(30 * second)
    expect(world.troubles).toHaveLength(1)
    world.failsToRead = false
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1))
  })

  test('is retried while it cannot start, and its error is logged once', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy({})
    world.beforeStart = () => {
      throw new Error('The disk is full')
    }
    await world.pass(minute + 3 * second)
    expect(world.troubles).toHaveLength(1)
    world.beforeStart = () => undefined
    await world.pass(second)
    expect(world.started).toMatchObject([{ dueAt: noon + minute }])
  })
})

describe('while a run is in progress,', () => {
  async function during(overlap: (typeof overlaps)[number]) {
    const world = await ScheduleWorld.open(noon)
    world.endsAtOnce = false
    await world.begin()
    await world.deploy({ overlap })
    await world.pass(3 * minute)
    return world
  }

  test('due times are skipped', async () => {
    await using world = await during('skip')
    expect(world.dueTimes).toEqual(minutesAfter(1))
    await world.end(world.started[0]!.executionId)
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 4))
    expect(world.outcomes.map(({ outcome }) => outcome)).toEqual(['started', 'overlap', 'overlap', 'started'])
  })

  test('one due time is queued, and runs when the run has ended', async () => {
    await using world = await during('queue')
    expect(world.dueTimes).toEqual(minutesAfter(1))
    await world.end(world.started[0]!.executionId)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2))
    await world.pass(minute)
    await world.end(world.started[1]!.executionId)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2, 4))
  })

  test('a queued due time survives a restart, even if missed ones are skipped', async () => {
    await using world = await ScheduleWorld.open(noon)
    world.endsAtOnce = false
    await world.begin()
    await world.deploy({ overlap: 'queue', missed: 'skip' })
    await world.pass(2 * minute)
    await world.kill()
    await world.begin()
    expect(world.dueTimes).toEqual(minutesAfter(1))
    await world.end(world.started[0]!.executionId)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2))
  })

  test('further runs start in parallel if overlap is allowed', async () => {
    await using world = await during('allow')
    expect(world.dueTimes).toEqual(minutesAfter(1, 2, 3))
  })

  test('a restarted service still knows the run', async () => {
    await using world = await during('skip')
    await world.kill()
    await world.begin()
    await world.pass(2 * minute)
    expect(world.dueTimes).toEqual(minutesAfter(1))
    await world.end(world.started[0]!.executionId)
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 6))
  })
})

describe('due times that passed while the service was down', () => {
  async function downFor(ms: number, rule: Parameters<ScheduleWorld['deploy']>[0]) {
    const world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy(rule)
    await world.pass(minute)
    await world.kill()
    world.clock.advance(ms)
    await world.begin()
    return world
  }

  test('are skipped except for the last one with the policy "once"', async () => {
    await using world = await downFor(4.5 * minute, { missed: 'once' })
    expect(world.dueTimes).toEqual(minutesAfter(1, 5))
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 5, 6))
  })

  test('are all skipped with the policy "skip"', async () => {
    await using world = await downFor(4.5 * minute, { missed: 'skip' })
    expect(world.dueTimes).toEqual(minutesAfter(1))
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 6))
  })

  test('run one after the other with the policy "all", up to a limit of the latest ones', async () => {
    await using world = await downFor(4.5 * minute, { missed: 'all', missedMax: 3 })
    await world.pass(second)
    expect(world.dueTimes).toEqual(minutesAfter(1, 3, 4, 5))
  })

  test('run one after the other, even if overlapping runs are skipped', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.deploy({ missed: 'all' })
    world.clock.advance(3.5 * minute)
    world.endsAtOnce = false
    await world.begin()
    for (const count of [1, 2, 3]) {
      expect(world.dueTimes).toEqual(minutesAfter(...[1, 2, 3].slice(0, count)))
      await world.pass(second)
      await world.end(world.started.at(-1)!.executionId)
    }
    await world.pass(minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2, 3, 4))
  })

  test('are found quickly, however many there are', async () => {
    await using world = await downFor(10 * 365 * 24 * hour, { cron: '* * * * * *', missed: 'once' })
    expect(world.started).toHaveLength(minute / second + 1)
    expect(world.dueTimes.at(-1)).toBe(world.clock.now() - second)
  })
})

describe('when the system clock is set', () => {
  test('forward, the due times in between count as missed', async () => {
    for (const [missed, expected] of [
      ['skip', []],
      ['once', [120]],
      ['all', Array.from({ length: 10 }, (_, index) => 111 + index)],
    ] as const) {
      await using world = await ScheduleWorld.open(noon)
      await world.begin()
      await world.deploy({ missed })
      await world.jump(noon + 2 * hour + 30 * second)
      expect(world.dueTimes).toEqual(minutesAfter(...expected))
    }
  })

  test('backward, no due time is resolved twice, and the schedule continues where it was', async () => {
    await using world = await ScheduleWorld.open(noon)
    await world.begin()
    await world.deploy({ missed: 'skip' })
    await world.pass(5 * minute)
    await world.jump(noon + 30 * second)
    await world.pass(6 * minute)
    expect(world.dueTimes).toEqual(minutesAfter(1, 2, 3, 4, 5, 6))
  })

  test('far backward, the schedule starts over', async () => {
    await using world = await ScheduleWorld.open(noon + 365 * 24 * hour)
    await world.begin()
    await world.deploy({})
    await world.pass(minute)
    await world.jump(noon)
    await world.pass(minute)
    expect(world.dueTimes).toEqual([noon + 365 * 24 * hour + minute, noon + minute])
    await world.kill()
    const lastSeenAt = world.clock.now()
    world.clock.setNow(noon - 24 * hour)
    await world.begin(lastSeenAt)
    await world.pass(minute)
    expect(world.dueTimes.at(-1)).toBe(noon - 24 * hour + minute)
  })
})

describe('many schedules', () => {
  test('run on time although only a few of them are in memory', async () => {
    await using world = await ScheduleWorld.open(noon, { windowMax: 5 })
    const ids: string[] = []
    for (let index = 0; index < 30; index += 1) ids.push(await world.deploy({ cron: `${index % 7} * * * *` }))
    await world.begin()
    for (let index = 0; index < 10; index += 1)
      ids.push(await world.deploy({ cron: `${index % 7} ${index % 4} * * *` }))
    await world.pass(hour + 10 * minute)
    for (const [index, id] of ids.slice(0, 30).entries()) {
      const times = world.started.filter(({ workflowId }) => workflowId === id).map(({ dueAt }) => dueAt)
      expect(times).toEqual(minutesAfter(...[index % 7, 60 + (index % 7)].filter((number) => number > 0)))
    }
    expect(world.started.filter(({ dueAt, firedAt }) => dueAt !== firedAt)).toEqual([])
  })

  test('share one timer', async () => {
    await using world = await ScheduleWorld.open(noon)
    for (let index = 0; index < 50; index += 1) await world.deploy({ cron: `${index} 3 * * *` })
    await world.begin()
    expect(world.clock.pending).toBe(1)
  })
})
