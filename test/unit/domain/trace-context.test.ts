import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newExecutionId } from '../../../src/domain/ids.ts'
import { readTraceParent, traceHeaders, traceIdsOf, traceParentText } from '../../../src/domain/trace-context.ts'

const hex = (digits: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((text) => !/^0+$/.test(text))

test('a written header is read back', () => {
  fc.assert(
    fc.property(hex(32), hex(16), fc.boolean(), (traceId, parentId, sampled) => {
      const parent = { traceId, parentId, sampled }
      expect(readTraceParent(traceParentText(parent))).toEqual(parent)
    }),
  )
})

test('any text is read without an error, and an invalid one is ignored', () => {
  fc.assert(fc.property(fc.string(), (text) => readTraceParent(text) === undefined))
})

const list = (count: number) => Array.from({ length: count }, (_, at) => `k${at}=v`).join()
const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
test.each([
  ['another version may have more', `cc-${trace}-${span}-01-what`, true],
  ['other flags are ignored', `00-${trace}-${span}-03`, true],
  ['version ff is invalid', `ff-${trace}-${span}-01`, false],
  ['version 00 has no more', `00-${trace}-${span}-01-what`, false],
  ['digits are in lower case', `00-${trace.toUpperCase()}-${span}-01`, false],
  ['a trace ID is not zero', `00-${'0'.repeat(32)}-${span}-01`, false],
  ['a span ID is not zero', `00-${trace}-${'0'.repeat(16)}-01`, false],
])('%s', (_, header, isValid) => {
  expect(readTraceParent(header) !== undefined).toBe(isValid)
})

test.each([
  ['a list', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
  ['spaces and empty members', ' a=1 , ,\tb@c=2,', 'a=1,b@c=2'],
  ['a value with spaces inside', 'a=1 2', 'a=1 2'],
  ['32 members', list(32), list(32)],
  ['33 members', list(33), undefined],
  ['more than 512 characters', `a=${'x'.repeat(254)},b=${'x'.repeat(254)}`, undefined],
  ['a key twice', 'a=1,a=2', undefined],
  ['a member without a value', 'a=', undefined],
  ['a member without a key', '=1', undefined],
  ['a key in upper case', 'A=1', undefined],
  ['an equals sign in a value', 'a=1=2', undefined],
  ['nothing', ' , ', undefined],
])('the state of the caller: %s', (_, state, kept) => {
  const parent = readTraceParent(`00-${trace}-${span}-01`, state)
  expect(parent?.state).toBe(kept)
  expect(traceHeaders(parent!).slice(1)).toEqual(kept === undefined ? [] : [['tracestate', kept]])
  expect(readTraceParent('nonsense', state)).toBeUndefined()
})

test('any state is read without an error, and a kept one is read back as it is', () => {
  const characters = fc.constantFrom(...'ab=,@/ \t1*_-~\u0000é')
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 40 }), (text) => {
      const kept = readTraceParent(`00-${trace}-${span}-01`, text)?.state
      if (kept !== undefined) expect(readTraceParent(`00-${trace}-${span}-01`, kept)?.state).toBe(kept)
    }),
  )
})

test('the trace ID consists of the digits of the execution ID, unless the caller has a trace', () => {
  const id = '0197f9a2-7c1e-7b0a-9a3e-0123456789ab'
  expect(traceIdsOf(id).traceId).toBe('0197f9a27c1e7b0a9a3e0123456789ab')
  expect(traceIdsOf(id, { traceId: trace, parentId: span, sampled: true }).traceId).toBe(trace)
  expect(traceIdsOf('not a UUID').traceId).toMatch(/^[0-9a-f]{32}$/)
})

test('all spans of two runs have different IDs, the same ones at every call', () => {
  const [one, two] = [newExecutionId(), newExecutionId()]
  const idsOf = (execution: string) => {
    const ids = traceIdsOf(execution)
    return Array.from({ length: 20_000 }, (_, number) => ids.spanId({ id: `s${number}` }))
  }
  const all = [...idsOf(one), ...idsOf(two)]
  expect(new Set(all).size).toBe(all.length)
  expect(all.every((id) => /^(?!0{16})[0-9a-f]{16}$/.test(id))).toBeTrue()
  expect(idsOf(one)).toEqual(all.slice(0, 20_000))
})
