import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairScheduler, type Slot } from '../../../src/webhooks/fair-scheduler.ts'
import { ManualClock } from '../../support/clock.ts'

function world(total: number, perHost = 10, charsMax = 1_000 * million) {
  const clock = new ManualClock()
  const places = new FairScheduler<{ host: string; name: string; chars?: number }>({
    total,
    perHost,
    charsMax,
    charsOf: ({ chars = 0 }) => chars,
    clock,
    onRoom: () => {},
  })
  const held: { host: string; name: string; chars?: number; slot: Slot }[] = []
  /** Takes every slot that it can get; each queue always waits for more. */
  const takeAll = () => {
    let count = 0
    for (let next = places.take(); next; next = places.take()) {
      held.push({ ...next.queue, slot: next.slot })
      places.wait(next.queue)
      count += 1
    }
    return count
  }
  const heldOf = (host: string) => held.filter((each) => each.host === host)
  const respondAll = (host: string) => {
    const over = heldOf(host)
    for (const each of over) held.splice(held.indexOf(each), 1)
    for (const { slot } of over) slot.release(true)
  }
  return { clock, places, held, takeAll, heldOf, respondAll }
}

const queues = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ host: `${prefix}${n}`, name: 'only' }))

describe('slots', () => {
  test('stay within the limits in all and per host, in any order of events', () => {
    const step = fc.record({ host: fc.nat(6), responds: fc.boolean(), passMs: fc.nat(2_000) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (steps, total) => {
        const { places, held, takeAll, heldOf, clock } = world(total, 4)
        for (const { host, responds, passMs } of steps) {
          places.wait({ host: `h${host}`, name: 'a' })
          takeAll()
          clock.advance(passMs)
          const [first] = heldOf(`h${host}`)
          if (first) {
            held.splice(held.indexOf(first), 1)
            first.slot.release(responds)
            first.slot.release(responds)
          }
          expect(places.running).toBe(held.length)
          expect(places.running).toBeLessThanOrEqual(total)
          for (let n = 0; n <= 6; n += 1) expect(heldOf(`h${n}`).length).toBeLessThanOrEqual(4)
        }
        // Nothing is lost: in the end, all slots are free again.
        for (const { slot } of held.splice(0)) slot.release(true)
        expect(places.running).toBe(0)
        places.wait({ host: 'h9', name: 'a' })
        expect(takeAll()).toBeGreaterThan(0)
      }),
    )
  })

  test('go to the hosts in turn, and to the queues of a host in turn', () => {
    const { places, takeAll, respondAll, held } = world(4)
    const all = [
      { host: 'a', name: 'one' },
      { host: 'a', name: 'two' },
      { host: 'b', name: 'three' },
    ]
    for (const queue of all) places.wait(queue)
    takeAll()
    for (const host of ['a', 'b']) respondAll(host)
    takeAll()
    expect(held.map(({ name }) => name).toSorted()).toEqual(['one', 'three', 'three', 'two'])
  })

  test('of hosts that hang are at most half of all, so that a host that responds gets one at once', () => {
    const { clock, places, takeAll, heldOf, respondAll } = world(500)
    for (const queue of queues('hang', 300)) places.wait(queue)
    takeAll()
    // Nobody has responded yet: each has one, and a newcomer may try.
    expect(places.running).toBe(300)
    places.wait({ host: 'good', name: 'only' })
    takeAll()
    expect(heldOf('good')).toHaveLength(1)
    respondAll('good')
    clock.advance(1_600)
    takeAll()
    expect(places.running).toBe(300 + heldOf('good').length)
    places.wait({ host: 'late', name: 'only' })
    takeAll()
    expect(heldOf('late')).toHaveLength(1)
    for (let n = 0; n < 50; n += 1) {
      places.wait({ host: 'good', name: 'only' })
      takeAll()
      expect(heldOf('good').length).toBeGreaterThan(0)
      respondAll('good')
    }
  })

  test('are all free for one slow host while no other host needs them', () => {
    const { clock, places, takeAll, heldOf } = world(100)
    places.wait({ host: 'slow', name: 'only' })
    takeAll()
    clock.advance(1_600)
    takeAll()
    expect(heldOf('slow')).toHaveLength(10)
  })

  test('are given as before to a host that responds again', () => {
    const { clock, places, takeAll, respondAll } = world(100)
    for (const queue of queues('host', 60)) places.wait(queue)
    takeAll()
    clock.advance(1_600)
    for (const { host } of queues('host', 60)) respondAll(host)
    // Slow, all of them: half of the places, a few for each.
    takeAll()
    expect(places.running).toBe(50)
    for (const { host } of queues('host', 60)) respondAll(host)
    takeAll()
    respondAll('host0')
    takeAll()
    expect(places.running).toBe(100)
  })

  test('with long bodies are limited by memory, half of it for hosts that hang, and short bodies pass', () => {
    const { clock, places, takeAll, heldOf, respondAll, held } = world(500, 10, 10 * million)
    const good = { host: 'good', name: 'only', chars: 2 * million }
    places.wait(good)
    takeAll()
    respondAll('good')
    places.leave(good)
    for (const queue of queues('hang', 20)) places.wait({ ...queue, chars: 2 * million })
    takeAll()
    clock.advance(1_600)
    takeAll()
    expect(held.filter(({ host }) => host.startsWith('hang'))).toHaveLength(2)
    places.wait(good)
    takeAll()
    expect(heldOf('good')).toHaveLength(3)
    places.wait({ host: 'hang9', name: 'short', chars: 1_000 })
    takeAll()
    expect(heldOf('hang9').length).toBeGreaterThan(0)
    // Nothing is lost: in the end, all memory is free again.
    for (const { slot } of held.splice(0)) slot.release(true)
    takeAll()
    expect(held.filter(({ chars }) => chars === 2 * million).length).toBeGreaterThanOrEqual(5)
  })

  test('are given to a body above the memory limit when it is alone', () => {
    const { places, takeAll, held, respondAll } = world(500, 10, 10 * million)
    places.wait({ host: 'a', name: 'long', chars: 50 * million })
    places.wait({ host: 'b', name: 'other', chars: million })
    takeAll()
    expect(held.map(({ name }) => name)).toEqual(['long'])
    respondAll('a')
    takeAll()
    expect(held.map(({ name }) => name)).toContain('other')
  })
})

const million = 1_000_000
