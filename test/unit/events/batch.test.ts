import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addCost, noCost } from '../../../src/domain/run/cost.ts'
import type { RunRecord, Span } from '../../../src/domain/run/log.ts'
import { createFold } from '../../../src/events/batch.ts'
import { runRecord, span } from '../../support/events/run-record.ts'

const fold = createFold()

/** An independent, slow conversion to the wire format. */
function wireSpan(value: Span): unknown {
  return {
    id: value.id,
    name: value.name,
    type: value.type,
    blockId: value.blockId,
    status: value.status,
    startTime: new Date(value.startTime).toISOString(),
    endTime: new Date(value.endTime).toISOString(),
    duration: value.durationMs,
    input: value.input ?? null,
    output: value.output ?? null,
    ...(value.error && { error: { code: value.error.code, message: value.error.message } }),
    ...(value.attempts && {
      attempts: value.attempts.map(({ number, startTime, durationMs, status, error }) => ({
        number,
        startTime: new Date(startTime).toISOString(),
        duration: durationMs,
        ...(status !== undefined && { status }),
        ...(error !== undefined && { error }),
      })),
    }),
    children: value.children.map(wireSpan),
  }
}

const spansOf = (record: RunRecord) => JSON.parse(fold(record, 1).traceSpans)

describe('the row of a run', () => {
  test('has the facts of the run', () => {
    const record = runRecord({ version: 3, trigger: 'webhook', createdAt: 99, durationMs: 7.25 })
    const { executionId, workflowId, workspaceId, startedAt, endedAt } = record
    expect(fold(record, 42)).toEqual({
      sequence: 42,
      ...{ executionId, workflowId, workspaceId, startedAt, endedAt },
      version: 3,
      level: 'info',
      trigger: 'webhook',
      createdAt: 99,
      durationMs: 7.25,
      costTotal: 0,
      models: [],
      cost: null,
      rawOutput: null,
      finalOutput: '{"waitedMs":5}',
      traceSpans: JSON.stringify([wireSpan(record.root)]),
    })
  })

  test('has the complete cost, if there is any', () => {
    const tokens = { prompt: 10, completion: 5, total: 15 }
    const model = { input: 0.1, output: 0.2, total: 0.3, tokens }
    const cost = addCost(noCost, { total: 0.3, tokens, models: { 'some-model': model } })
    const row = fold(runRecord({ cost }), 1)
    expect(row.costTotal).toBe(0.3)
    expect(row.models).toEqual(['some-model'])
    expect(JSON.parse(row.cost ?? '')).toEqual(cost)
    const free = { total: 0, tokens, models: { local: { ...model, total: 0 } } }
    expect(JSON.parse(fold(runRecord({ cost: free }), 1).cost ?? '')).toEqual(free)
  })

  test('of a failed run has the error as its final output', () => {
    const failure = { code: 'EXECUTION_FAILED', message: 'It "broke"', blockId: 'b1', blockName: 'First' } as const
    const row = fold(runRecord({ failure }), 1)
    expect(row.level).toBe('error')
    const { message, ...rest } = failure
    expect(JSON.parse(row.finalOutput)).toEqual({ error: message, ...rest })
    const nowhere = { ...failure, code: 'CANCELLED', blockId: null, blockName: null } as const
    expect(JSON.parse(fold(runRecord({ failure: nowhere }), 1).finalOutput)).toEqual({
      error: message,
      code: 'CANCELLED',
    })
  })
})

describe('trace spans', () => {
  const json = fc.jsonValue()
  const time = fc.integer({ min: 0, max: 4_000_000_000_000 })
  const duration = fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs)
  const attempts = fc.array(
    fc.record(
      { number: fc.nat(), startTime: time, durationMs: duration, status: fc.nat(), error: fc.string() },
      { requiredKeys: ['number', 'startTime', 'durationMs'] },
    ),
  )
  const anySpan = fc.letrec<{ span: Span }>((tie) => ({
    span: fc.record({
      // Span IDs are numbered, so they need no escaping.
      id: fc.nat().map((number) => `s${number}`),
      name: fc.string({ unit: 'binary' }),
      type: fc.string(),
      blockId: fc.option(fc.string()),
      status: fc.constantFrom('success', 'error', 'skipped', 'cancelled'),
      startTime: time,
      endTime: time,
      durationMs: duration,
      input: json,
      output: fc.oneof(json, fc.constant(undefined)),
      error: fc.option(fc.record({ code: fc.string(), message: fc.string() })),
      attempts: fc.option(attempts),
      children: fc.oneof({ maxDepth: 3 }, fc.constant<Span[]>([]), fc.array(tie('span'), { maxLength: 3 })),
    }),
  })).span

  test('are the JSON of their wire format', () => {
    fc.assert(
      fc.property(anySpan, (root) => {
        expect(fold(runRecord({ root }), 1).traceSpans).toBe(JSON.stringify([wireSpan(root)]))
      }),
    )
  })

  test('have correct times at the end of a second', () => {
    for (const at of [0, 999, 1_000, 59_999, 60_000, 1_748_736_000_000, 1_748_736_000_999, -1]) {
      expect(spansOf(runRecord({ root: span({ startTime: at }) }))[0].startTime).toBe(new Date(at).toISOString())
    }
  })

  test('contain values of up to 256 KB, and previews of larger ones', () => {
    const kept = 'x'.repeat(262_144 - 2)
    const tooLarge = 'é'.repeat(131_072)
    const [root] = spansOf(runRecord({ root: span({ input: kept, output: tooLarge }) }))
    expect(root.input).toBe(kept)
    expect(root.output).toEqual({ truncated: true, size: 262_146, preview: JSON.stringify(tooLarge).slice(0, 1_024) })
  })

  test('are never cut within a character', () => {
    const [root] = spansOf(runRecord({ root: span({ output: `x${'🙂'.repeat(100_000)}` }) }))
    expect(root.output.truncated).toBe(true)
    expect(root.output.preview.isWellFormed()).toBe(true)
  })

  test('stay small in a loop over a large value', () => {
    const input = { text: 'x'.repeat(200_000) }
    const children = Array.from({ length: 1_000 }, () => span({ input }))
    const row = fold(runRecord({ root: span({ children }) }), 1)
    expect(row.traceSpans.length).toBeLessThan(40_000_000)
    const [root] = JSON.parse(row.traceSpans)
    expect(root.children[0].input).toEqual(input)
    expect(root.children[999].input.truncated).toBe(true)
  })
})

describe('the final output', () => {
  test('is complete up to 10 MB, and a preview beyond', () => {
    const kept = 'x'.repeat(10_485_760 - 2)
    expect(fold(runRecord({ output: kept }), 1).finalOutput).toBe(JSON.stringify(kept))
    const row = fold(runRecord({ output: `${kept}x` }), 1)
    expect(JSON.parse(row.finalOutput)).toMatchObject({ truncated: true, size: 10_485_761 })
  })

  test('is complete even if a span has a preview of the same value', () => {
    const output = { text: 'x'.repeat(300_000) }
    const row = fold(runRecord({ output, root: span({ output }) }), 1)
    expect(JSON.parse(row.finalOutput)).toEqual(output)
    expect(JSON.parse(row.traceSpans)[0].output.truncated).toBe(true)
  })
})

test('with a value that JSON cannot express does not lose the run', () => {
  const circular: Record<string, unknown> = { a: [1n] }
  circular['self'] = circular
  const shared = { big: 2n }
  const hostile = {
    toJSON() {
      throw new Error('no')
    },
  }
  const output = [undefined, () => 1, Symbol('x'), 10n, circular, shared, shared, Number.NaN]
  const row = fold(runRecord({ output, root: span({ output: hostile, input: undefined, durationMs: Number.NaN }) }), 1)
  const seen = { big: '2' }
  expect(JSON.parse(row.finalOutput)).toEqual([
    ...[null, null, null, '10'],
    { a: ['1'], self: '[circular]' },
    ...[seen, seen, null],
  ])
  const [root] = JSON.parse(row.traceSpans)
  expect(root.input).toBeNull()
  expect(root.duration).toBeNull()
  expect(root.output.preview).toContain('cannot be written as JSON: no')
})

test('a cached text is never used for a different span', () => {
  const one = { blockId: 'b1', name: 'Fetch', type: 'api', startTime: 1_000, endTime: 2_000 }
  const unlike: Partial<Span>[] = [
    {},
    { name: 'Fetch again' },
    { type: 'function' },
    { blockId: null, name: 'b1' },
    { endTime: 2_001 },
    { startTime: 1_001 },
    { status: 'error' },
    {},
  ]
  for (const changes of unlike) {
    const record = runRecord({ root: span({ ...one, ...changes }) })
    expect(spansOf(record)).toEqual([wireSpan(record.root)])
  }
})

test('a frozen input is written correctly for each block, in any order', () => {
  const constant = Object.freeze({ url: 'https://one.test' })
  const other = Object.freeze({ url: 'https://two.test' })
  const inputs = [constant, constant, other, { url: 'https://three.test' }, constant, null, 5, undefined, constant]
  for (const input of inputs) {
    for (const blockId of ['b1', 'b2']) {
      const record = runRecord({ root: span({ blockId, input }) })
      expect(spansOf(record)).toEqual([wireSpan(record.root)])
    }
  }
  const large = Object.freeze({ text: 'x'.repeat(300_000) })
  for (let time = 0; time < 2; time += 1) {
    const [root] = spansOf(runRecord({ root: span({ blockId: 'b1', input: large }) }))
    expect(root.input.truncated).toBe(true)
  }
})

test('no large input is cached', () => {
  const remembering = createFold()
  const held = () => {
    Bun.gc(true)
    return heapStats().heapSize
  }
  const before = held()
  for (let index = 0; index < 200; index += 1) {
    const input = Object.freeze({ text: `${index}é`.padEnd(500_000, 'x') })
    remembering(runRecord({ root: span({ blockId: `b${index}`, input }) }), 1)
  }
  expect(held() - before).toBeLessThan(20_000_000)
})
