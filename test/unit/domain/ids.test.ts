import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  deliveryIdOf,
  deliveryKeyOf,
  eventIdOf,
  LogSequence,
  newExecutionId,
  sequenceAt,
} from '../../../src/domain/ids.ts'

const key = fc.record({
  sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  subscription: fc.integer({ min: 1, max: 2 ** 40 }),
})

test('a delivery ID leads back to the key of its delivery', () => {
  fc.assert(
    fc.property(key, fc.oneof(fc.uuid(), fc.string()), (of, executionId) => {
      const id = deliveryIdOf(of, executionId)
      expect(id).toMatch(/^dlv_[0-9a-z]+$/)
      expect(deliveryKeyOf(id)).toEqual(of)
    }),
  )
})

test('a text that is not a delivery ID has no key', () => {
  for (const text of [
    '',
    'dlv_',
    `dlv_${'0'.repeat(23)}`,
    `dlv_${'0'.repeat(23)}0`,
    `evt_${'0'.repeat(24)}1`,
    'dlv_x/../1',
  ])
    expect([text, deliveryKeyOf(text)]).toEqual([text, undefined])
  fc.assert(
    fc.property(fc.string({ minLength: 20, maxLength: 40 }), (text) => {
      return deliveryKeyOf(`dlv_${text}`) === undefined || /^[0-9a-z]{24,33}$/.test(text)
    }),
  )
})

test('two runs recorded with the same sequence number have different event IDs', () => {
  const sequence = sequenceAt(Date.UTC(2025, 5, 1))
  const events = Array.from({ length: 1_000 }, () => eventIdOf(sequence, newExecutionId()))
  expect(new Set(events).size).toBe(1_000)
  expect(eventIdOf(sequence, newExecutionId()) < eventIdOf(sequence + 1, newExecutionId())).toBe(true)
})

test('log sequence numbers always rise, and follow the clock again once it is right', () => {
  const anyTime = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2200, 0, 1) })
  fc.assert(
    fc.property(fc.array(anyTime, { maxLength: 50 }), (times) => {
      const wrong = times.filter((at) => at < Date.UTC(2025, 0, 1) || at >= Date.UTC(2060, 0, 1))
      const right = Date.UTC(2026, 0, 1)
      let now = right
      const sequence = new LogSequence(() => now)
      let last = 0
      for (now of [...times, right]) {
        const next = sequence.next()
        expect(Number.isSafeInteger(next) && next > last).toBe(true)
        last = next
      }
      if (wrong.length === times.length) expect(last).toBe(sequenceAt(right))
    }),
  )
})
