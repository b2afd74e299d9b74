import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FairShare } from '../../../src/domain/fair-share.ts'

const total = fc.integer({ min: 1, max: 600 })
const factor = fc.integer({ min: 1, max: 20 })

/** Takes slots while there is room; returns their number. */
function fill(share: FairShare, owner: string, guest?: string): number {
  let taken = 0
  for (; share.hasRoom(owner, guest); taken++) share.take(owner, guest)
  return taken
}

describe('the fair share', () => {
  test.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [5, 4],
    [10, 8],
    [20, 16],
    [192, 153],
    [500, 400],
    [1000, 800],
  ])('of %i slots, a lone owner gets %i', (slots, owned) => {
    expect(fill(new FairShare({ total: slots, factor: 4 }), 'a')).toBe(owned)
  })

  test('two owners that take turns get 44 % each, and a newcomer still finds a slot', () => {
    const share = new FairShare({ total: 500, factor: 4 })
    for (let turn = 0; turn < 500; turn++) {
      for (const owner of ['a', 'b']) if (share.hasRoom(owner)) share.take(owner)
    }
    expect(share.used).toBeWithin(438, 446)
    expect(fill(share, 'c')).toBeGreaterThan(40)
  })

  test('a lone guest gets 80 % of the slots that a lone owner may take', () => {
    const share = new FairShare({ total: 500, factor: 4 })
    expect(fill(share, 'owner', 'guest')).toBe(320)
    expect(share.hasRoom('owner')).toBe(true)
    expect(share.hasRoom('owner', 'another guest')).toBe(true)
    expect(fill(share, 'owner')).toBe(80)
  })

  test('a guest that uses the slots of several owners gets no more than a lone owner', () => {
    const share = new FairShare({ total: 500, factor: 4 })
    const taken = fill(share, 'a', 'guest') + fill(share, 'b', 'guest') + fill(share, 'c', 'guest')
    expect(taken).toBeLessThanOrEqual(400)
  })

  test('with any history: at most the total, the last slot only for newcomers, and no count is left at the end', () => {
    const step = fc.record({
      takes: fc.boolean(),
      owner: fc.constantFrom('a', 'b', 'c', 'd'),
      guest: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
      times: fc.integer({ min: 1, max: 50 }),
    })
    const history = fc.property(total, factor, fc.array(step, { maxLength: 60 }), (slots, by, steps) => {
      const share = new FairShare({ total: slots, factor: by })
      const held: { owner: string; guest: string | undefined }[] = []
      for (const { takes, owner, guest, times } of steps) {
        for (let time = 0; time < times; time++) {
          if (!takes) {
            const index = held.findIndex((each) => each.owner === owner)
            for (const each of index === -1 ? [] : held.splice(index, 1)) share.release(each.owner, each.guest)
          } else if (share.hasRoom(owner, guest)) {
            const isNew = held.every((each) => each.owner !== owner)
            share.take(owner, guest)
            held.push({ owner, guest })
            if (!isNew) expect(share.used).toBeLessThan(slots)
          }
          expect(share.used).toBe(held.length)
          expect(share.used).toBeLessThanOrEqual(slots)
          if (share.used < slots) expect(share.hasRoom('newcomer')).toBe(true)
        }
      }
      for (const { owner, guest } of held) share.release(owner, guest)
      expect(share.used).toBe(0)
      expect(fill(share, 'a')).toBe(fill(new FairShare({ total: slots, factor: by }), 'a'))
    })
    fc.assert(history, { numRuns: 300 })
  })
})
