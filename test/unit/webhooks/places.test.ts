import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Place, Places } from '../../../src/webhooks/places.ts'
import { ManualClock } from '../../support/clock.ts'

function world(total: number, perHost = 10, charsMax = 1_000 * million) {
  const clock = new ManualClock()
  const places = new Places<{ host: string; name: string; chars?: number }>({
    total,
    perHost,
    charsMax,
    charsOf: ({ chars = 0 }) => chars,
    clock,
    onRoom: () => {},
  })
  const held: { host: string; name: string; chars?: number; place: Place }[] = []
  /** Takes what it can get; every lane waits for more at once. */
  const takeAll = () => {
    let count = 0
    for (let next = places.take(); next; next = places.take()) {
      held.push({ ...next.lane, place: next.place })
      places.wait(next.lane)
      count += 1
    }
    return count
  }
  const heldOf = (host: string) => held.filter((each) => each.host === host)
  const answerAll = (host: string) => {
    const over = heldOf(host)
    for (const each of over) held.splice(held.indexOf(each), 1)
    for (const { place } of over) place.release(true)
  }
  return { clock, places, held, takeAll, heldOf, answerAll }
}

const lanes = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ host: `${prefix}${n}`, name: 'only' }))

describe('places', () => {
  test('are never more than there are, in all and for one host, whatever happens in which order', () => {
    const step = fc.record({ host: fc.nat(6), answers: fc.boolean(), passMs: fc.nat(2_000) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 40 }), (steps, total) => {
        const { places, held, takeAll, heldOf, clock } = world(total, 4)
        for (const { host, answers, passMs } of steps) {
          places.wait({ host: `h${host}`, name: 'a' })
          takeAll()
          clock.advance(passMs)
          const [first] = heldOf(`h${host}`)
          if (first) {
            held.splice(held.indexOf(first), 1)
            first.place.release(answers)
            first.place.release(answers)
          }
          expect(places.running).toBe(held.length)
          expect(places.running).toBeLessThanOrEqual(total)
          for (let n = 0; n <= 6; n += 1) expect(heldOf(`h${n}`).length).toBeLessThanOrEqual(4)
        }
        // Nothing is lost: when everything is over, as many as ever are free.
        for (const { place } of held.splice(0)) place.release(true)
        expect(places.running).toBe(0)
        places.wait({ host: 'h9', name: 'a' })
        expect(takeAll()).toBeGreaterThan(0)
      }),
    )
  })

  test('go to one host after the other, and to one lane of a host after the other', () => {
    const { places, takeAll, answerAll, held } = world(4)
    const all = [
      { host: 'a', name: 'one' },
      { host: 'a', name: 'two' },
      { host: 'b', name: 'three' },
    ]
    for (const lane of all) places.wait(lane)
    takeAll()
    for (const host of ['a', 'b']) answerAll(host)
    takeAll()
    expect(held.map(({ name }) => name).toSorted()).toEqual(['one', 'three', 'three', 'two'])
  })

  test('of hosts that hang are half of all at most, so that one that answers has its own at once', () => {
    const { clock, places, takeAll, heldOf, answerAll } = world(500)
    for (const lane of lanes('hang', 300)) places.wait(lane)
    takeAll()
    // Nobody has answered yet: each has one, and a newcomer may try.
    expect(places.running).toBe(300)
    places.wait({ host: 'good', name: 'only' })
    takeAll()
    expect(heldOf('good')).toHaveLength(1)
    answerAll('good')
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
      answerAll('good')
    }
  })

  test('are all there for one slow host while nobody else needs them', () => {
    const { clock, places, takeAll, heldOf } = world(100)
    places.wait({ host: 'slow', name: 'only' })
    takeAll()
    clock.advance(1_600)
    takeAll()
    expect(heldOf('slow')).toHaveLength(10)
  })

  test('of a host that answers again are given as before', () => {
    const { clock, places, takeAll, answerAll } = world(100)
    for (const lane of lanes('host', 60)) places.wait(lane)
    takeAll()
    clock.advance(1_600)
    for (const { host } of lanes('host', 60)) answerAll(host)
    // Slow, all of them: half of the places, a few for each.
    takeAll()
    expect(places.running).toBe(50)
    for (const { host } of lanes('host', 60)) answerAll(host)
    takeAll()
    answerAll('host0')
    takeAll()
    expect(places.running).toBe(100)
  })

  test('with long bodies are as many as there is memory for, half of it for hosts that hang, and short bodies pass', () => {
    const { clock, places, takeAll, heldOf, answerAll, held } = world(500, 10, 10 * million)
    const good = { host: 'good', name: 'only', chars: 2 * million }
    places.wait(good)
    takeAll()
    answerAll('good')
    places.leave(good)
    for (const lane of lanes('hang', 20)) places.wait({ ...lane, chars: 2 * million })
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
    // Nothing is lost: when everything is over, as much as ever is free.
    for (const { place } of held.splice(0)) place.release(true)
    takeAll()
    expect(held.filter(({ chars }) => chars === 2 * million).length).toBeGreaterThanOrEqual(5)
  })

  test('are there for a body that is longer than all that may be on its way, alone', () => {
    const { places, takeAll, held, answerAll } = world(500, 10, 10 * million)
    places.wait({ host: 'a', name: 'long', chars: 50 * million })
    places.wait({ host: 'b', name: 'other', chars: million })
    takeAll()
    expect(held.map(({ name }) => name)).toEqual(['long'])
    answerAll('a')
    takeAll()
    expect(held.map(({ name }) => name)).toContain('other')
  })
})

const million = 1_000_000
