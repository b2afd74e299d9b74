import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairScheduler, type Slot } from '../../../src/webhooks/fair-scheduler.ts'
import { ManualClock } from '../../support/clock.ts'

/** A queue of one subscription. `at` is its host, and a port if it has one. */
type Waiting = { subscription: number; origin: string; at: string; name: string; chars: number }

function world(total: number, perOrigin = 10, charsMax = 1_000 * million) {
  const clock = new ManualClock()
  const scheduler = new FairScheduler<Waiting>({
    total,
    perOrigin,
    charsMax,
    charsOf: ({ chars }) => chars,
    clock,
    onRoom: () => {},
  })
  const numbers = new Map<string, number>()
  const queue = (at: string, name = 'only', chars = 0): Waiting => {
    const key = `${at} ${name}`
    const subscription = numbers.get(key) ?? numbers.size
    numbers.set(key, subscription)
    return { subscription, origin: `https://${at}.example`.replace(/(:\d+)(.*)/, '$2$1'), at, name, chars }
  }
  const held: (Waiting & { slot: Slot })[] = []
  /** Takes every slot that it can get; each queue always waits for more. */
  const takeAll = () => {
    for (let next = scheduler.take(); next; next = scheduler.take()) {
      held.push({ ...next.queue, slot: next.slot })
      scheduler.wait(next.queue)
    }
  }
  const wait = (at: string, name = 'only', chars = 0) => scheduler.wait(queue(at, name, chars))
  const heldOf = (at: string) => held.filter((each) => each.at === at)
  const heldBy = (at: string, name: string) => held.filter((each) => each.at === at && each.name === name)
  const respond = (over: readonly (Waiting & { slot: Slot })[], responded = true) => {
    for (const each of over) held.splice(held.indexOf(each), 1)
    for (const { slot } of over) slot.release(responded)
  }
  const respondAll = (at: string) => respond(heldOf(at))
  return { clock, scheduler, held, queue, wait, takeAll, heldOf, heldBy, respond, respondAll }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

describe('slots', () => {
  test('stay within the limits in all, per origin and per host name, in any order of events', () => {
    const step = fc.record({
      host: fc.nat(3),
      port: fc.integer({ min: 1, max: 6 }),
      name: fc.nat(4),
      responds: fc.boolean(),
      passMs: fc.nat(2_000),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (steps, total) => {
        const { scheduler, held, wait, takeAll, heldOf, clock, respond } = world(total, 4)
        for (const { host, port, name, responds, passMs } of steps) {
          const at = `h${host}:${port}`
          wait(at, `${name}`)
          takeAll()
          clock.advance(passMs)
          const first = heldOf(at)[0]
          if (first) {
            respond([first], responds)
            first.slot.release(responds)
          }
          expect(scheduler.running).toBe(held.length)
          expect(scheduler.running).toBeLessThanOrEqual(total)
          const counts = Map.groupBy(held, (each) => each.at)
          for (const { length } of counts.values()) expect(length).toBeLessThanOrEqual(4)
          const byHost = Map.groupBy(held, (each) => each.at.split(':')[0])
          for (const { length } of byHost.values()) expect(length).toBeLessThanOrEqual(16)
          const bySubscription = Map.groupBy(held, (each) => each.subscription)
          for (const { length } of bySubscription.values()) expect(length).toBeLessThanOrEqual(2)
        }
        // Nothing is lost: in the end, all slots are free again.
        respond([...held])
        expect(scheduler.running).toBe(0)
        wait('h9')
        takeAll()
        expect(held.length).toBeGreaterThan(0)
      }),
    )
  })

  test('go to the hosts in turn, and to the queues of a host in turn', () => {
    const { wait, takeAll, respondAll, held } = world(4)
    wait('a', 'one')
    wait('a', 'two')
    wait('b', 'three')
    takeAll()
    for (const host of ['a', 'b']) respondAll(host)
    takeAll()
    expect(held.map(({ name }) => name).toSorted()).toEqual(['one', 'three', 'three', 'two'])
  })

  test('of hosts that hang are at most half of all, so that a host that responds gets one at once', () => {
    const { clock, scheduler, wait, takeAll, heldOf, respondAll } = world(500)
    for (const host of names('hang', 300)) wait(host)
    takeAll()
    // Nobody has responded yet: each has one, and a newcomer may try.
    expect(scheduler.running).toBe(300)
    wait('good')
    takeAll()
    expect(heldOf('good')).toHaveLength(1)
    respondAll('good')
    clock.advance(1_600)
    takeAll()
    expect(scheduler.running).toBe(300 + heldOf('good').length)
    wait('late')
    takeAll()
    expect(heldOf('late')).toHaveLength(1)
    for (let n = 0; n < 50; n += 1) {
      wait('good')
      takeAll()
      expect(heldOf('good').length).toBeGreaterThan(0)
      respondAll('good')
    }
  })

  test('are given as before to a host that responds again', () => {
    const { clock, scheduler, wait, takeAll, respondAll } = world(100)
    const hosts = names('host', 60)
    for (const host of hosts) wait(host)
    takeAll()
    clock.advance(1_600)
    for (const host of hosts) respondAll(host)
    // Slow, all of them: half of the slots, a few for each.
    takeAll()
    expect(scheduler.running).toBe(50)
    for (const host of hosts) respondAll(host)
    takeAll()
    for (const host of hosts.slice(0, 20)) respondAll(host)
    takeAll()
    expect(scheduler.running).toBe(100)
  })

  test('with long bodies are limited by memory, half of it for hosts that hang, and short bodies pass', () => {
    const { clock, scheduler, queue, wait, takeAll, heldOf, respondAll, respond, held } = world(500, 10, 10 * million)
    wait('good', 'only', 2 * million)
    takeAll()
    respondAll('good')
    scheduler.leave(queue('good'))
    for (const host of names('hang', 20)) wait(host, 'only', 2 * million)
    takeAll()
    clock.advance(1_600)
    takeAll()
    expect(held.filter(({ at }) => at.startsWith('hang'))).toHaveLength(2)
    wait('good', 'only', 2 * million)
    takeAll()
    expect(heldOf('good')).toHaveLength(3)
    wait('hang9', 'short', 1_000)
    takeAll()
    expect(heldOf('hang9').length).toBeGreaterThan(0)
    // Nothing is lost: in the end, all memory is free again.
    respond([...held])
    takeAll()
    expect(held.filter(({ chars }) => chars === 2 * million).length).toBeGreaterThanOrEqual(5)
  })

  test('are given to a body above the memory limit when it is alone', () => {
    const { wait, takeAll, held, respondAll } = world(500, 10, 10 * million)
    wait('a', 'long', 50 * million)
    wait('b', 'other', million)
    takeAll()
    expect(held.map(({ name }) => name)).toEqual(['long'])
    respondAll('a')
    takeAll()
    expect(held.map(({ name }) => name)).toContain('other')
  })
})

describe('the slots of one origin', () => {
  test.each([1, 2, 3, 5, 10])('of %d go to a lone subscription by half at most, fast or slow', (perOrigin) => {
    const { clock, wait, takeAll, heldOf, respondAll } = world(100, perOrigin)
    const half = Math.max(1, Math.floor(perOrigin / 2))
    wait('one')
    takeAll()
    respondAll('one')
    takeAll()
    expect(heldOf('one')).toHaveLength(half)
    clock.advance(1_600)
    takeAll()
    expect(heldOf('one')).toHaveLength(half)
  })

  test('go to hanging subscriptions up to a half, and the last quarter stays free for one that responds', () => {
    const { clock, wait, takeAll, heldOf, heldBy, respond } = world(500)
    wait('one', 'good')
    takeAll()
    respond(heldBy('one', 'good'))
    takeAll()
    respond(heldBy('one', 'good'))
    for (const name of names('bad', 40)) wait('one', name)
    for (let second = 0; second < 20; second += 1) {
      takeAll()
      expect(heldBy('one', 'good').length).toBeGreaterThan(0)
      expect(heldOf('one').length - heldBy('one', 'good').length).toBeLessThanOrEqual(8)
      respond(heldBy('one', 'good'))
      clock.advance(1_000)
    }
  })

  test('are shared by subscriptions that respond', () => {
    const { wait, takeAll, heldBy, respondAll, held } = world(500)
    const three = ['a', 'b', 'c']
    for (const name of three) wait('one', name)
    takeAll()
    const counts = { a: 0, b: 0, c: 0 }
    for (let round = 0; round < 30; round += 1) {
      respondAll('one')
      takeAll()
      for (const name of three) counts[name as 'a'] += heldBy('one', name).length
    }
    expect(held.length).toBeGreaterThanOrEqual(7)
    expect(Math.max(...Object.values(counts)) / Math.min(...Object.values(counts))).toBeLessThan(1.5)
  })

  test('include one for a slow subscription that has none', () => {
    const { clock, wait, takeAll, heldBy, respond } = world(500)
    wait('one', 'slow')
    wait('one', 'hangs')
    takeAll()
    clock.advance(1_600)
    respond(heldBy('one', 'slow'))
    takeAll()
    expect(heldBy('one', 'hangs').length).toBeGreaterThan(1)
    expect(heldBy('one', 'slow').length).toBeGreaterThan(0)
  })

  test('are not taken by another port of the same host, and the ports together have four times as many', () => {
    const { clock, wait, takeAll, heldOf, respondAll, held } = world(500)
    wait('one:1000', 'good')
    takeAll()
    respondAll('one:1000')
    takeAll()
    respondAll('one:1000')
    for (let port = 1; port <= 50; port += 1) for (const name of names('bad', 5)) wait(`one:${port}`, name)
    for (let second = 0; second < 20; second += 1) {
      takeAll()
      expect(heldOf('one:1000').length).toBeGreaterThan(0)
      expect(held.length).toBeLessThanOrEqual(40)
      respondAll('one:1000')
      clock.advance(1_000)
    }
  })

  test('follow a subscription that moves to another origin', () => {
    const { scheduler, queue, wait, takeAll, heldOf, respondAll } = world(500)
    wait('one')
    takeAll()
    const moved = queue('one')
    scheduler.leave(moved)
    const there = { ...moved, origin: 'https://two.example', at: 'two' }
    scheduler.wait(there)
    takeAll()
    expect(heldOf('two').length).toBeGreaterThan(0)
    respondAll('one')
    respondAll('two')
    expect(scheduler.running).toBe(0)
  })
})

const million = 1_000_000
