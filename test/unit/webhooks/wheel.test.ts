import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Wheel } from '../../../src/webhooks/wheel.ts'

/** Where bytes of the wheel's time carry over, and where integers of 32 bits end. */
const start = fc.oneof(
  fc.constantFrom(0, 255, 256, 65_535, 2 ** 24 - 1, 2 ** 31 - 2, 2 ** 32 - 3, 1_735_689_600_000, 2 ** 40 - 1),
  fc.nat(2 ** 31),
)
/** Delays on every level of the wheel, beyond it, and in the past. */
const delay = fc.oneof(
  fc.integer({ min: -300, max: 300 }),
  fc.integer({ min: 0, max: 70_000 }),
  fc.integer({ min: 0, max: 2 ** 25 }),
  fc.integer({ min: 2 ** 31, max: 2 ** 34 }),
  fc.constantFrom(256, 65_536, 2 ** 24, 2 ** 32 - 2 ** 24, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1),
  fc.double({ min: 0, max: 1_000, noNaN: true }),
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ insert: delay }) },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ advance: fc.oneof(fc.nat(300), fc.nat(70_000), fc.nat(2 ** 33)) }) },
)

/** A simple list of due timers, as the reference. */
class Model {
  readonly dueAt = new Map<number, number>()

  takeDue(now: number): number[] {
    const due = [...this.dueAt].filter(([, at]) => Math.ceil(at) <= now)
    for (const [timer] of due) this.dueAt.delete(timer)
    return due.map(([timer]) => timer)
  }
}

describe('a wheel', () => {
  test('fires every timer once at its time, and no cancelled one', () => {
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 80 }), (startsAt, steps) => {
        const wheel = new Wheel(startsAt, { capacity: 2 })
        const model = new Model()
        let now = startsAt
        for (const one of steps) {
          if ('insert' in one) {
            const timer = wheel.insert(now + one.insert)
            expect(model.dueAt.has(timer)).toBe(false)
            model.dueAt.set(timer, now + one.insert)
          } else if ('cancel' in one) {
            const timer = one.cancel % (model.dueAt.size + 1)
            expect(wheel.cancel(timer)).toBe(model.dueAt.delete(timer))
          } else {
            now += one.advance
            const dueAt = new Map(model.dueAt)
            const fired: number[] = []
            wheel.expire(now, (timer) => fired.push(timer))
            expect(fired.toSorted(ascending)).toEqual(model.takeDue(now).toSorted(ascending))
            const times = fired.map((timer) => Math.ceil(dueAt.get(timer)!)).filter((at) => at > now - one.advance)
            expect(times).toEqual(times.toSorted(ascending))
          }
          expect(wheel.size).toBe(model.dueAt.size)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('fires every timer on time if it is called when it asks, and asks rarely in between', () => {
    fc.assert(
      fc.property(start, fc.array(delay, { maxLength: 60 }), (startsAt, delays) => {
        const wheel = new Wheel(startsAt)
        const dueAt = new Map(delays.map((ms) => [wheel.insert(startsAt + ms), startsAt + ms]))
        let calls = 0
        let now = startsAt
        for (let at = wheel.nextAt(); at !== undefined; at = wheel.nextAt()) {
          calls += 1
          expect(at).toBeGreaterThanOrEqual(now)
          now = at
          wheel.expire(now, (timer) => {
            expect(Math.max(Math.ceil(dueAt.get(timer)!), startsAt)).toBe(now)
            expect(dueAt.delete(timer)).toBe(true)
          })
        }
        expect(dueAt.size).toBe(0)
        // A timer moves down three levels and then fires. Beyond the last level it is checked once per round of 49
        // days, which is four times here.
        expect(calls).toBeLessThanOrEqual(delays.length * 8)
      }),
      { numRuns: 300 },
    )
  })

  test('lets a firing timer insert and cancel others, also repeatedly without a delay', () => {
    const wheel = new Wheel(1_000)
    const fired: string[] = []
    const names = new Map<number, string>()
    const put = (name: string, at: number) => names.set(wheel.insert(at), name)
    put('a', 1_010)
    put('b', 1_010)
    put('c', 1_400)
    const fire = (timer: number) => {
      const name = names.get(timer)!
      names.delete(timer)
      fired.push(name)
      if (name === 'again') put('again', 0)
      if (name !== 'a' && name !== 'b') return
      for (const other of ['a', 'b']) {
        const [found] = [...names].find(([, known]) => known === other) ?? []
        if (found !== undefined) expect(wheel.cancel(found)).toBe(names.delete(found))
      }
      put('again', 0)
      put('later', 1_020)
      put('after', 2_001)
    }
    wheel.expire(2_000, fire)
    expect(['a', 'b']).toContain(fired.shift()!)
    expect(fired).toEqual(['later', 'c'])
    expect(wheel.nextAt()).toBe(2_000)
    wheel.expire(2_000, fire)
    wheel.expire(2_000, fire)
    expect(fired).toEqual(['later', 'c', 'again', 'again'])
    wheel.expire(2_001, fire)
    expect(fired).toEqual(['later', 'c', 'again', 'again', 'again', 'after'])
    expect(wheel.size).toBe(1)
  })

  test('fires nothing early when its clock stops or goes back', () => {
    const wheel = new Wheel(500)
    const fired: number[] = []
    wheel.expire(900, (timer) => fired.push(timer))
    const timer = wheel.insert(901)
    wheel.expire(600, (one) => fired.push(one))
    wheel.expire(900, (one) => fired.push(one))
    expect(fired).toEqual([])
    wheel.expire(901, (one) => fired.push(one))
    expect(fired).toEqual([timer])
  })

  test('reuses numbers, so that they stay below the largest number of timers', () => {
    const wheel = new Wheel(0)
    for (let round = 0; round < 100; round += 1) {
      const timers = Array.from({ length: 50 }, (_, index) => wheel.insert(round * 1_000 + index * 10))
      expect(Math.max(...timers)).toBeLessThan(50)
      for (const timer of timers.slice(25)) wheel.cancel(timer)
      wheel.expire(round * 1_000 + 999, () => {})
      expect(wheel.size).toBe(0)
    }
  })

  test('knows only its own timers', () => {
    const wheel = new Wheel(0)
    const timer = wheel.insert(5)
    for (const other of [-1, 1, 7_000, 0.5, Number.NaN]) expect(wheel.cancel(other)).toBe(false)
    expect(wheel.cancel(timer)).toBe(true)
    expect(wheel.cancel(timer)).toBe(false)
  })
})

function ascending(a: number, b: number): number {
  return a - b
}
