import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { RunEnd } from '../../../src/engine/run/run-end.ts'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

const trigger = block('start', 'api_trigger')
const set = (id: string, value: unknown) => block(id, 'variables', { assign: [{ name: 'v', value }] })
const variables = { v: { value: null } }

describe('the walk', () => {
  test('a chain runs in order, and its output is that of the last block', async () => {
    const output = await world.output(
      document({
        variables,
        blocks: [trigger, set('a', '<api.input.n>'), set('b', 'got <a.v>')],
        edges: ['start > a', 'a > b'],
      }),
      { n: 7 },
    )
    expect(output).toEqual({ v: 'got 7' })
  })

  test('the output of several last blocks is an object by their names', async () => {
    const output = await world.output(
      document({ variables, blocks: [trigger, set('a', 1), set('b', 2)], edges: ['start > a', 'start > b'] }),
    )
    expect(output).toEqual({ a: { v: 1 }, b: { v: 2 } })
  })

  test('a join waits for live edges only, and blocks after dead edges are skipped', async () => {
    const { record } = await world.run(
      document({
        variables,
        blocks: [
          trigger,
          block('if', 'condition', { conditions: [{ id: 'yes', expression: '<api.input.n> > 1' }] }),
          set('a', 'a'),
          set('b', 'b'),
          set('deep', 'deep'),
          set('join', '<a.v>-<b.v>-<deep.v>'),
        ],
        edges: ['start > if', 'if:condition-yes > a', 'if:condition-else > b', 'b > deep', 'a > join', 'deep > join'],
      }),
      { n: 2 },
    )
    expect(record.output).toEqual({ v: 'a--' })
    const spans = spansOf(record.root)
    expect(spans.get('b')?.[0]?.status).toBe('skipped')
    expect(spans.get('deep')?.[0]).toMatchObject({ status: 'skipped', durationMs: 0 })
    expect(spans.get('join')?.[0]?.status).toBe('success')
  })

  test('branches of a fork run at the same time', async () => {
    const waits = ['a', 'b', 'c', 'd'].map((id) => block(id, 'wait', { ms: 60 }))
    const { record } = await world.run(
      document({ blocks: [trigger, ...waits], edges: waits.map(({ id }) => `start > ${id}`) }),
    )
    const starts = record.root.children.filter(({ type }) => type === 'wait')
    const firstEnd = Math.min(...starts.map(({ endTime }) => endTime))
    expect(starts.every(({ startTime }) => startTime < firstEnd)).toBe(true)
  })

  test('a block that fails the run aborts the others, and the run ends when they have stopped', async () => {
    const { record } = await world.run(
      document({
        blocks: [
          trigger,
          block('slow', 'wait', { ms: 60_000 }),
          block('fails', 'function', { code: 'throw new Error("boom")' }),
          block('after', 'wait', { ms: 1 }),
        ],
        edges: ['start > slow', 'start > fails', 'fails > after'],
      }),
    )
    expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockId: 'fails', blockName: 'fails' })
    expect(record.failure?.message).toContain('boom')
    const spans = spansOf(record.root)
    expect(spans.get('slow')?.[0]?.status).toBe('cancelled')
    expect(spans.has('after')).toBe(false)
  })

  test('an error edge takes precedence over onError, and is the only edge that is followed', async () => {
    const output = await world.output(
      document({
        variables,
        blocks: [
          trigger,
          block('f', 'function', { code: 'throw new TypeError("no")', onError: 'continue' }),
          set('ok', 'ok'),
          set('handled', '<f.error.message>'),
        ],
        edges: ['start > f', 'f > ok', 'f:error > handled'],
      }),
    )
    expect((output as { v: string }).v).toContain('no')
  })

  test('onError continue sets null outputs and the error', async () => {
    const output = await world.output(
      document({
        variables,
        blocks: [
          trigger,
          block('f', 'function', { code: 'throw 1', onError: 'continue' }),
          set('next', '<f.result>|<f.error.code>'),
        ],
        edges: ['start > f', 'f > next'],
      }),
    )
    expect(output).toEqual({ v: '|CODE_ERROR' })
  })

  test('the first response ends the run and aborts what is still running', async () => {
    const { record, response } = await world.run(
      document({
        blocks: [
          trigger,
          block('slow', 'wait', { ms: 60_000 }),
          block('answer', 'response', {
            data: { n: '<api.input.n>' },
            status: 201,
            headers: [{ key: 'X-A', value: 'b' }],
          }),
        ],
        edges: ['start > slow', 'start > answer'],
      }),
      { n: 1 },
    )
    expect(response).toEqual({ data: { n: 1 }, status: 201, headers: { 'X-A': 'b' } })
    expect(record.output).toEqual({ data: { n: 1 }, status: 201, headers: { 'X-A': 'b' } })
    expect(record.failure).toBeNull()
    expect(spansOf(record.root).get('slow')?.[0]?.status).toBe('cancelled')
  })

  test('the run passes through a disabled block, and ends its path at a disabled condition', async () => {
    const blocks = [
      trigger,
      { ...set('off', 1), enabled: false },
      set('last', '[<off.v>]'),
      { ...block('if', 'condition', { conditions: [{ id: 'x', expression: 'true' }] }), enabled: false },
      set('never', 2),
    ]
    const { record } = await world.run(
      document({ variables, blocks, edges: ['start > off', 'off > last', 'start > if', 'if:condition-x > never'] }),
    )
    expect(record.output).toMatchObject({ last: { v: '[]' } })
    expect(spansOf(record.root).get('never')?.[0]?.status).toBe('skipped')
  })

  test('a condition with no true branch and no else edge ends its path without an error', async () => {
    const output = await world.output(
      document({
        variables,
        blocks: [trigger, block('if', 'condition', { conditions: [{ id: 'x', expression: 'false' }] }), set('a', 1)],
        edges: ['start > if', 'if:condition-x > a'],
      }),
    )
    expect(output).toEqual({ branch: 'else', result: false })
  })

  test('the failure says whether the run timed out, was cancelled, or lost its caller', async () => {
    const slow = document({ blocks: [trigger, block('slow', 'wait', { ms: 60_000 })], edges: ['start > slow'] })
    const timedOut = await world.run(slow, {}, { timeoutMs: 20 })
    expect(timedOut.record.failure?.code).toBe('EXECUTION_TIMEOUT')
    expect(timedOut.record.failure?.message).toContain('MILLRACE_RUN_TIMEOUT_MS')

    const limited = await world.run({ ...slow, limits: { timeoutMs: 20 } }, {}, { timeoutMs: 60_000 })
    expect(limited.record.failure?.code).toBe('EXECUTION_TIMEOUT')
    expect(limited.record.failure?.message).toContain('20 ms, the most that the time limit of the workflow allows')
    const generous = await world.run({ ...slow, limits: { timeoutMs: 60_000 } }, {}, { timeoutMs: 20 })
    expect(generous.record.failure?.message).toContain('20 ms, the most that MILLRACE_RUN_TIMEOUT_MS allows')

    const running = world.run(slow, {}, { executionId: 'e-1' })
    while (!world.runner.find('e-1')) await Bun.sleep(1)
    expect(world.runner.cancel('e-1')).toBe(true)
    expect((await running).record.failure?.code).toBe('CANCELLED')
    expect(world.runner.cancel('e-1')).toBe(false)

    const caller = new AbortController()
    const left = world.run(slow, {}, { callerSignal: () => caller.signal })
    caller.abort()
    expect((await left).record.failure?.code).toBe('CLIENT_CLOSED')
  })

  test('a block that was waiting when its run ended says why it stopped', async () => {
    const slow = block('slow', 'wait', { ms: 60_000 })
    const errorOfWait = ({ record }: RunEnd) => spansOf(record.root).get('slow')?.[0]?.output

    const running = world.run(
      document({ blocks: [trigger, slow], edges: ['start > slow'] }),
      {},
      { executionId: 'e-2' },
    )
    while (!world.runner.find('e-2')) await Bun.sleep(1)
    world.runner.cancel('e-2')
    expect(errorOfWait(await running)).toMatchObject({
      error: { code: 'CANCELLED', message: 'The run was cancelled.' },
    })

    const responded = await world.run(
      document({ blocks: [trigger, slow, block('end', 'response')], edges: ['start > slow', 'start > end'] }),
    )
    expect(responded.record.failure).toBeNull()
    expect(errorOfWait(responded)).toMatchObject({
      error: { code: 'CANCELLED', message: 'The run was stopped before the block ended.' },
    })
  })

  test('a parameter that cannot be filled in fails its block', async () => {
    const f = block('f', 'function', { code: 'return 1', timeoutMs: '<api.input.none>', onError: 'continue' })
    const broken = { ...f, params: { ...f.params, code: 'return {{ABSENT}}' } }
    const output = await world.output(
      document({
        variables,
        blocks: [trigger, broken, set('next', '<f.error.code>')],
        edges: ['start > f', 'f > next'],
      }),
    )
    expect(output).toEqual({ v: 'ENVIRONMENT_VARIABLE_MISSING' })
  })

  test('blocks after an error edge can read the error of any block type', async () => {
    const output = await world.output(
      document({
        variables,
        blocks: [trigger, block('w', 'wait', { ms: '<api.input.x>' }), set('handled', '<w.error.code>')],
        edges: ['start > w', 'w:error > handled'],
      }),
      { x: 'no' },
    )
    expect(output).toEqual({ v: 'INVALID_PARAMETER' })
  })

  test('every block is resolved exactly once in any acyclic graph', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async ({ count, edges, open }) => {
        const ids = Array.from({ length: count }, (_, index) => `n${index}`)
        // Each block is a condition that is open or closed: its edges are taken or dead.
        const blocks = ids.map((id, index) =>
          block(id, 'condition', { conditions: [{ id: 'y', expression: String(open[index]) }] }),
        )
        const inner = edges.map(([from, to]) => `n${from}:condition-y > n${to}`)
        const { record } = await world.run(document({ blocks: [trigger, ...blocks], edges: ['start > n0', ...inner] }))
        const expected = reachable(count, edges, open)
        const seen = record.root.children.filter(({ type }) => type === 'condition')
        expect(seen.map(({ name }) => name).sort()).toEqual([...ids].sort())
        for (const { name, status } of seen)
          expect(status).toBe(expected.has(Number(name.slice(1))) ? 'success' : 'skipped')
      }),
      { numRuns: 200 },
    )
  })
})

const graphs = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    open: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
    edges: fc
      .array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 30 })
      .map((pairs) =>
        pairs.filter(([a, b]) => a !== b).map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]),
      ),
  }),
)

/** An independent calculation: a block runs when the trigger, or an open block that runs, leads to it. */
function reachable(
  count: number,
  edges: readonly (readonly [number, number])[],
  open: readonly boolean[],
): Set<number> {
  const running = new Set([0])
  for (let node = 0; node < count; node += 1) {
    if (!running.has(node) || !open[node]) continue
    for (const [from, to] of edges) if (from === node) running.add(to)
  }
  return running
}
