import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TurnQueue } from '../../../src/sandbox/turn-queue.ts'

const anyone = () => true

test('owners take turns, and each owner is served in order', () => {
  const queue = new TurnQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) queue.push(item.charAt(0), item)
  const order = Array.from({ length: 6 }, () => queue.take(anyone))
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', undefined])
})

test('an item that is put back comes before the others of its owner', () => {
  const queue = new TurnQueue<string>()
  queue.push('a', 'a1')
  queue.push('a', 'a2')
  const taken = queue.take(anyone)!
  queue.putBack('a', taken)
  expect([queue.take(anyone), queue.take(anyone), queue.size]).toEqual(['a1', 'a2', 0])
})

test('an owner that may not have its turn keeps it, and others are served', () => {
  const queue = new TurnQueue<string>()
  for (const item of ['a1', 'b1']) queue.push(item.charAt(0), item)
  const notA = (_: string, owner: string) => owner !== 'a'
  expect([queue.mayTake(notA), queue.take(notA), queue.mayTake(notA), queue.take(notA)]).toEqual([
    true,
    'b1',
    false,
    undefined,
  ])
  expect(queue.take(anyone)).toBe('a1')
})

test('nothing is lost or served twice', () => {
  const owner = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(owner, fc.constant(undefined))
  const history = fc.property(fc.array(step), fc.integer({ min: 1, max: 5 }), (steps, modulus) => {
    const queue = new TurnQueue<{ owner: string; id: number }>()
    const waiting = new Set<{ owner: string; id: number }>()
    for (const [id, by] of steps.entries()) {
      if (by !== undefined) {
        const item = { owner: by, id }
        queue.push(by, item)
        waiting.add(item)
      } else if (id % modulus === 0) {
        for (const item of queue.remove((each) => each.id % 2 === 0)) expect(waiting.delete(item)).toBe(true)
      } else {
        const item = queue.take(anyone)
        expect(item !== undefined).toBe(waiting.size > 0)
        if (!item) continue
        expect(waiting.delete(item)).toBe(true)
        expect(waiting.values().find((each) => each.owner === item.owner && each.id < item.id)).toBeUndefined()
      }
      expect(queue.size).toBe(waiting.size)
    }
  })
  fc.assert(history, { numRuns: 300 })
})
