import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonInSlices, jsonStartInSlices, type Slices } from '../../../src/domain/slices.ts'

function finish<Result>(slices: Slices<Result>): { result: Result; pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = slices.next()
    if (done) return { result: value, pauses }
  }
}

test('JSON that is written in slices is the JSON that is written at once', () => {
  const leaf = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(undefined, Number.NaN, -0, new Date(0), () => 1, 'é'.repeat(100_000), Array(30_000).fill(0)),
  )
  const tree = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 5 }),
    ),
  })).value
  fc.assert(
    fc.property(tree, (value) => {
      expect(finish(jsonInSlices(value)).result).toBe(JSON.stringify(value) as string)
    }),
    { numRuns: 200 },
  )
})

test('a long text that is written in slices is the JSON that is written at once', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3 }),
    fc.constantFrom('"', '\\', '\u0001', '\ud83d', '\ude00', 'é'),
  )
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 20 }), fc.nat(50), (parts, shift) => {
      const text = 'x'.repeat(shift) + parts.join('').repeat(200_000 / parts.length)
      for (const value of [text, { text }, [text, text]]) {
        expect(finish(jsonInSlices(value)).result === JSON.stringify(value)).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
  expect(finish(jsonInSlices({ text: 'x'.repeat(8_000_000) })).pauses).toBeGreaterThan(40)
})

test('each slice writes a small part of a large value', () => {
  const items = Array.from({ length: 200_000 }, (_, index) => ({ index, name: `name ${index}` }))
  for (const value of [items, { deep: { items } }, Object.fromEntries(items.map((item) => [item.name, item]))]) {
    const { result, pauses } = finish(jsonInSlices(value))
    expect(result).toBe(JSON.stringify(value))
    expect(pauses).toBeGreaterThan(40)
  }
})

test('a circular value fails as it does in JSON.stringify', () => {
  const value: Record<string, unknown> = { text: 'x'.repeat(200_000) }
  value['self'] = [value]
  expect(() => finish(jsonInSlices(value))).toThrow()
})

test('the beginning of a JSON text comes with the size of the whole text', () => {
  const value = { a: Array(50).fill('é'.repeat(100_000)), b: { c: Array(30_000).fill({ d: 1 }), e: undefined } }
  const whole = JSON.stringify(value)
  const { result } = finish(jsonStartInSlices(value, 300_000))
  expect(result).toMatchObject({ isWhole: false, bytes: Buffer.byteLength(whole) })
  expect(whole.startsWith(result?.text ?? '')).toBe(true)
  expect(result?.text.length).toBeGreaterThan(300_000)
  expect(result?.text.length).toBeLessThan(700_000)
  expect(finish(jsonStartInSlices(value, whole.length)).result).toMatchObject({ text: whole, isWhole: true })
  expect(finish(jsonStartInSlices(undefined, 1)).result).toBeUndefined()
})
