import { afterAll, describe, expect, test } from 'bun:test'
import type { Loop, Parallel } from '../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

const start = block('start', 'api_trigger')
const inside = (id: string, type: string, params: Record<string, unknown>, parentId = 'each') =>
  block(id, type, params, { parentId })

function looping(loop: Loop, inner = inside('inner', 'function', { code: 'return <loop.index>' })) {
  return document({
    blocks: [start, block('each', 'loop'), inner],
    edges: ['start > each', `each:loop-start-source > ${inner.id}`],
    loops: { each: loop },
  })
}

function branching(parallel: Parallel, code: string) {
  return document({
    blocks: [start, block('each', 'parallel'), inside('inner', 'function', { code })],
    edges: ['start > each', 'each:parallel-start-source > inner'],
    parallels: { each: parallel },
  })
}

const resultsOf = (output: unknown) =>
  (output as { results: ({ result: unknown } | { error: unknown })[] }).results.map((entry) =>
    'result' in entry ? entry.result : entry,
  )

describe('a loop', () => {
  test('repeats a number of times', async () => {
    expect(resultsOf(await world.output(looping({ loopType: 'for', iterations: 3 })))).toEqual([0, 1, 2])
    expect(
      resultsOf(await world.output(looping({ loopType: 'for', iterations: '<api.input.n>' }), { n: '2' })),
    ).toEqual([0, 1])
    expect(resultsOf(await world.output(looping({ loopType: 'for', iterations: 0 })))).toEqual([])
  })

  test('iterates over a list, an object, or the JSON text of either', async () => {
    const inner = inside('inner', 'function', {
      code: 'return [<loop.index>, <loop.currentItem>, <loop.items>.length]',
    })
    const each = looping({ loopType: 'forEach', forEachItems: '<api.input.items>' }, inner)
    expect(resultsOf(await world.output(each, { items: ['a', 'b'] }))).toEqual([
      [0, 'a', 2],
      [1, 'b', 2],
    ])
    expect(resultsOf(await world.output(each, { items: { k: 1 } }))).toEqual([[0, ['k', 1], 1]])
    expect(resultsOf(await world.output(each, { items: '["x"]' }))).toEqual([[0, 'x', 1]])
  })

  test('refuses JSON text that is nested too deep', async () => {
    const each = looping({ loopType: 'forEach', forEachItems: '<api.input.items>' })
    const { record } = await world.run(each, { items: `${'['.repeat(50_000)}${']'.repeat(50_000)}` })
    expect(record.failure?.message).toStartWith('Items must be a list or an object, not "[[[')
  })

  test('repeats while its condition is true, and reads the blocks of the latest iteration', async () => {
    expect(resultsOf(await world.output(looping({ loopType: 'while', condition: '<loop.index> < 3' })))).toEqual([
      0, 1, 2,
    ])
    expect(resultsOf(await world.output(looping({ loopType: 'while', condition: '<inner.result> !== 2' })))).toEqual([
      0, 1, 2,
    ])
    expect(resultsOf(await world.output(looping({ loopType: 'while', condition: 'false' })))).toEqual([])
    expect(resultsOf(await world.output(looping({ loopType: 'doWhile', condition: 'false' })))).toEqual([0])
    expect(
      resultsOf(await world.output(looping({ loopType: 'doWhile', condition: '[<loop.index>].map((x) => x < 2)[0]' }))),
    ).toEqual([0, 1])
  })

  test('stops at the maximum number of iterations, which the error names', async () => {
    const small = new World({ limits: { loopIterationsMax: 5 } })
    const { record } = await small.run(looping({ loopType: 'while', condition: 'true' }))
    expect(record.failure?.message).toContain('MILLRACE_LOOP_ITERATIONS_MAX')
    const computed = await small.run(looping({ loopType: 'for', iterations: '<api.input.n>' }), { n: 6 })
    expect(computed.record.failure?.message).toContain('MILLRACE_LOOP_ITERATIONS_MAX')
    await small.stop()
  })

  test('fails with its first failing iteration, and names the inner block', async () => {
    const inner = inside('inner', 'function', {
      code: 'if (<loop.index> === 1) throw new Error("second"); return <loop.index>',
    })
    const { record } = await world.run(looping({ loopType: 'for', iterations: 5 }, inner))
    expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockId: 'inner' })
    expect(spansOf(record.root).get('each')?.[0]?.children.length).toBe(2)
  })

  test('adds the errors of failed iterations to the results with onError continue', async () => {
    const inner = inside('inner', 'function', {
      code: 'if (<loop.index> === 1) throw new Error("second"); return <loop.index>',
    })
    const results = resultsOf(
      await world.output(looping({ loopType: 'for', iterations: 3, onError: 'continue' }, inner)),
    )
    expect(results).toEqual([0, { error: expect.objectContaining({ code: 'CODE_ERROR' }) }, 2])
  })

  test('has one span per iteration, one after the other', async () => {
    const { record } = await world.run(looping({ loopType: 'for', iterations: 3 }))
    const passes = spansOf(record.root).get('each')?.[0]?.children ?? []
    expect(passes.map(({ type, children }) => [type, children.length])).toEqual([
      ['iteration', 1],
      ['iteration', 1],
      ['iteration', 1],
    ])
  })

  test('lets other requests run during a long loop', async () => {
    const inner = inside('inner', 'variables', { assign: [{ name: 'v', value: '<loop.index>' }] })
    const large = new World({ limits: { loopIterationsMax: 30_000, blocksMax: 100_000 } })
    const long = { ...looping({ loopType: 'for', iterations: 30_000 }, inner), variables: { v: {} } }
    let turns = 0
    let ended = false
    const count = () => {
      turns += 1
      if (!ended) setImmediate(count)
    }
    setImmediate(count)
    const { record } = await large.run(long)
    ended = true
    expect(record.failure).toBeNull()
    expect(turns).toBeGreaterThan(2)
    await large.stop()
  })
})

describe('a parallel', () => {
  test('runs its branches at the same time, and returns their results in order', async () => {
    const output = await world.output(
      branching({ parallelType: 'collection', distribution: '<api.input.items>' }, 'return <parallel.currentItem> * 2'),
      {
        items: [1, 2, 3],
      },
    )
    expect(resultsOf(output)).toEqual([2, 4, 6])
    expect(
      resultsOf(await world.output(branching({ parallelType: 'count', count: 2 }, 'return <parallel.index>'))),
    ).toEqual([0, 1])
  })

  test('runs at most as many branches at once as its concurrency allows', async () => {
    for (const [concurrency, most] of [
      [undefined, 20],
      [3, 3],
    ] as const) {
      const parallel = document({
        blocks: [start, block('each', 'parallel'), inside('inner', 'wait', { ms: 5 })],
        edges: ['start > each', 'each:parallel-start-source > inner'],
        parallels: {
          each: { parallelType: 'count', count: 50, ...(concurrency === undefined ? {} : { concurrency }) },
        },
      })
      let running = 0
      let highest = 0
      await world.run(
        parallel,
        {},
        {
          observer: {
            started: ({ type }) => {
              if (type === 'wait') running += 1
              highest = Math.max(highest, running)
            },
            ended: ({ type }) => {
              if (type === 'wait') running -= 1
            },
          },
        },
      )
      expect(highest).toBe(most)
    }
  })

  test('fails and stops all branches when one fails, except with onError continue', async () => {
    const code = 'if (<parallel.index> === 1) throw new Error("no"); return <parallel.index>'
    const { record } = await world.run(branching({ parallelType: 'count', count: 3 }, code))
    expect(record.failure?.blockId).toBe('inner')
    const kept = await world.output(branching({ parallelType: 'count', count: 3, onError: 'continue' }, code))
    expect(resultsOf(kept)).toEqual([
      0,
      { error: expect.objectContaining({ code: 'CODE_ERROR', blockId: 'inner' }) },
      2,
    ])
  })

  test('a failing branch aborts the others at once', async () => {
    const parallel = document({
      blocks: [
        start,
        block('each', 'parallel'),
        inside('if', 'condition', { conditions: [{ id: 'first', expression: '<parallel.index> === 0' }] }),
        // Fails only after the others have started.
        inside('moment', 'wait', { ms: 1 }),
        inside('fails', 'function', { code: 'throw 1' }),
        inside('slow', 'wait', { ms: 60_000 }),
      ],
      edges: [
        'start > each',
        'each:parallel-start-source > if',
        'if:condition-first > moment',
        'moment > fails',
        'if:condition-else > slow',
      ],
      parallels: { each: { parallelType: 'count', count: 4 } },
    })
    const { record } = await world.run(parallel)
    expect(record.failure?.blockId).toBe('fails')
    expect(
      spansOf(record.root)
        .get('slow')
        ?.filter(({ status }) => status === 'cancelled').length,
    ).toBe(3)
  })

  test('has an error edge like any block', async () => {
    const draft = branching({ parallelType: 'count', count: 1 }, 'throw new Error("inner")')
    const output = await world.output({
      ...draft,
      variables: { v: {} },
      blocks: {
        ...draft.blocks,
        handled: block('handled', 'variables', { assign: [{ name: 'v', value: '<each.results>' }] }),
      },
      edges: [...draft.edges, { source: 'each', target: 'handled', sourceHandle: 'error' }],
    })
    expect(output).toEqual({ v: [{ error: expect.objectContaining({ blockId: 'inner' }) }] })
  })
})

describe('containers', () => {
  test('can be nested, and inner blocks read outer containers by name', async () => {
    const nested = document({
      blocks: [
        start,
        block('outer', 'loop', {}, { name: 'Outer Loop' }),
        inside('inner', 'parallel', {}, 'outer'),
        inside('leaf', 'function', { code: 'return `<outerloop.index>/<parallel.index>/<loop.index>`' }, 'inner'),
        inside('sum', 'function', { code: 'return <inner.results>.map((each) => each.result)' }, 'outer'),
        block('all', 'function', { code: 'return <Outer Loop.results>.flatMap((each) => each.result)' }),
      ],
      edges: [
        ...['start > outer', 'outer:loop-start-source > inner', 'inner:parallel-start-source > leaf'],
        ...['inner:parallel-end-source > sum', 'outer:loop-end-source > all'],
      ],
      loops: { outer: { loopType: 'for', iterations: 2 } },
      parallels: { inner: { parallelType: 'count', count: 2 } },
    })
    expect(await world.output(nested)).toMatchObject({ result: ['0/0/0', '0/1/0', '1/0/1', '1/1/1'] })
  })

  test('a response inside ends the whole run', async () => {
    const inner = inside('inner', 'response', { data: '<loop.index>' })
    const { response } = await world.run(looping({ loopType: 'for', iterations: 5 }, inner))
    expect(response?.data).toBe(0)
  })

  test('inner blocks read from outside are null, with a warning', async () => {
    const draft = looping({ loopType: 'for', iterations: 1 })
    const outside = {
      ...draft,
      variables: { v: {} },
      blocks: {
        ...draft.blocks,
        after: block('after', 'variables', { assign: [{ name: 'v', value: '<inner.result>' }] }),
      },
      edges: [...draft.edges, { source: 'each', target: 'after', sourceHandle: 'loop-end-source' }],
    }
    expect(await world.output(outside)).toEqual({ v: null })
    expect(world.check(outside)).toContainEqual(
      expect.objectContaining({ level: 'warning', code: 'INNER_BLOCK', blockId: 'after' }),
    )
  })
})
