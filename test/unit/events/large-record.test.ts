import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { RunRecord } from '../../../src/domain/run/log.ts'
import { SliceQueue } from '../../../src/domain/slice-queue.ts'
import type { Slices } from '../../../src/domain/slices.ts'
import { createFold, type RecordTexts } from '../../../src/events/batch.ts'
import { isLarge, textsInSlices } from '../../../src/events/large-record.ts'
import { runRecord, span } from '../../support/events/run-record.ts'

const secrets = createRedactor([{ name: 'KEY', value: 'sk_live_12345678' }])

function textsOf(record: RunRecord): { texts: RecordTexts; pauses: number } {
  const slices: Slices<RecordTexts> = textsInSlices(record)
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = slices.next()
    if (done) return { texts: value, pauses }
  }
}

test('the row of a large record is the same as if it were written at once', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(
      { key: 'Bearer sk_live_12345678' },
      { list: Array(20_000).fill('x') },
      'é'.repeat(200_000),
      undefined,
    ),
  )
  const node = fc.tuple(value, value).map(([input, output]) => span({ input, output }))
  const shared = { key: 'sk_live_12345678', list: Array(30_000).fill(1) }
  fc.assert(
    fc.property(fc.array(node, { maxLength: 5 }), value, fc.boolean(), (children, output, hides) => {
      const root = span({
        input: shared,
        output,
        children: [...children, span({ input: shared, output: shared, children })],
      })
      const record = runRecord({ root, output, createdAt: 5, secrets: hides ? secrets : undefined })
      expect(createFold()(record, 1, textsOf(record).texts)).toEqual(createFold()(record, 1))
    }),
    { numRuns: 60 },
  )
})

test('a record is large by all its values together', () => {
  const children = Array.from({ length: 100 }, () => span({ input: { text: 'x'.repeat(10_000) } }))
  expect(isLarge(runRecord({ root: span({ children }) }))).toBe(true)
  expect(isLarge(runRecord({ root: span({ children: children.slice(0, 20) }) }))).toBe(false)
  expect(isLarge(runRecord({ output: 'x'.repeat(1_000_000) }))).toBe(true)
})

test('a trace whose blocks repeat a huge value reads it only so often', () => {
  let reads = 0
  const toJSON = () => {
    reads += 1
    return 'x'.repeat(9_000_000)
  }
  const children = Array.from({ length: 200 }, () => span({ input: { text: { toJSON } } }))
  const row = createFold()(
    runRecord({ root: span({ children }) }),
    1,
    textsOf(runRecord({ root: span({ children }) })).texts,
  )
  expect(reads).toBeLessThan(40)
  expect(JSON.parse(row.traceSpans)[0].children).toHaveLength(200)
})

test('a secret at the end of a preview is hidden completely', () => {
  for (let before = 980; before < 1_024; before += 6) {
    const output = `${'-'.repeat(before)} sk_live_12345678 ${'-'.repeat(12_000_000)}`
    const record = runRecord({ output, root: span({ output }), secrets })
    const row = createFold()(record, 1, textsOf(record).texts)
    for (const text of [row.finalOutput, row.traceSpans]) {
      expect(text).toContain('"truncated":true')
      expect(text).not.toContain('sk_l')
    }
  }
})

test('large work is done in turns, with other work in between', async () => {
  let now = 0
  const queue = new SliceQueue({ monotonic: () => now })
  const order: string[] = []
  function* work(name: string): Slices<string> {
    for (let step = 0; step < 12; step += 1) {
      now += 1
      order.push(name)
      yield
    }
    return name
  }
  function* failing(): Slices<string> {
    yield
    throw new Error('no')
  }
  const all = [queue.run(work('a')), queue.run(work('b'))]
  const failed = queue.run(failing())
  expect(queue.length).toBe(3)
  setImmediate(() => order.push('other'))
  await expect(failed).rejects.toThrow('no')
  expect(await Promise.all(all)).toEqual(['a', 'b'])
  expect(order.join('')).toStartWith('aaaaa')
  expect(order.slice(0, 12)).toContain('other')
  expect(order.slice(0, 16)).toContain('b')
  expect(queue.length).toBe(0)
})
