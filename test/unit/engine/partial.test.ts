import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OutboundFetch } from '../../../src/domain/outbound-request.ts'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { RunRecord, Span } from '../../../src/domain/run/log.ts'
import { blockSpans, readTrace } from '../../../src/domain/run/trace.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { type PartialRequest, planPartial } from '../../../src/engine/manual/partial-plan.ts'
import { PreviousRun } from '../../../src/engine/manual/previous-run.ts'
import { createFold } from '../../../src/events/batch.ts'
import { block, document } from '../../support/make.ts'
import { workflows } from './random-workflow.ts'
import { spansOf, World } from './world.ts'

const requests: string[] = []
/** A response that depends only on the request; an error if the path says so. */
const fetch: OutboundFetch = async ({ url }) => {
  const { pathname } = new URL(url)
  requests.push(pathname)
  const path = `${pathname.split('/')[1]}.${Bun.hash(pathname).toString(36)}`
  const status = pathname.endsWith('fails') ? 400 : 200
  const body = new TextEncoder().encode(JSON.stringify({ path }))
  return { ok: true, response: { status, headers: { 'content-type': 'application/json' }, body, url } }
}

const world = new World({ fetch })
afterAll(() => world.stop())

const secrets = createRedactor([{ name: 'TOKEN', value: 'the secret value' }])
const asLogged = (record: RunRecord) => createFold()({ ...record, secrets }, 1).traceSpans
const pastOf = (record: RunRecord) => new PreviousRun(readTrace(asLogged(record)), { secrets, isWhole: false })
const wholeOf = (record: RunRecord) => new PreviousRun(record.root, { secrets, isWhole: true })

async function again(workflow: WorkflowDocument, wish: PartialRequest, past?: PreviousRun, body: unknown = input) {
  const plan = world.plan(workflow)
  requests.length = 0
  const { record } = await world.run(workflow, body, { partial: planPartial(plan, wish, past) })
  return record
}

const input = { text: 'given' }
const outcome = ({ failure, output }: RunRecord) => ({ output, failure: failure && { ...failure } })

test('running again from any block, in any iteration, gives the same outputs', async () => {
  let tried = 0
  await fc.assert(
    fc.asyncProperty(workflows, fc.nat(), fc.boolean(), fc.boolean(), async (workflow, pick, isNamed, isWhole) => {
      const first = (await world.run(workflow, input)).record
      const ran = blockSpans(first.root).filter(({ span }) => span.status === 'success' || span.status === 'error')
      const chosen = ran[pick % ran.length]
      if (!chosen) return
      const iterations = isNamed ? chosen.place.iterations : undefined
      const from = { blockId: chosen.span.blockId as string, iterations }
      const past = isWhole ? wholeOf(first) : pastOf(first)
      const second = await again(workflow, { from }, past)
      expect(outcome(second)).toEqual(outcome(first))
      // The block itself ran, and those that are always before it did not.
      const place = isNamed ? chosen.place.iterations : past.firstPlaceOf(from.blockId)
      const key = (blockId: string | null, at: readonly number[] | undefined) => `${blockId}/${at?.join('.')}`
      const spans = new Map(
        blockSpans(second.root).map((each) => [key(each.span.blockId, each.place.iterations), each]),
      )
      expect(spans.get(key(from.blockId, place))?.span.reused).toBeUndefined()
      if (from.blockId !== 'start') expect(spans.get('start/')?.span.reused).toBe(true)
      // A third run uses the trace of the second.
      const third = await again(workflow, { from }, pastOf(second))
      expect(outcome(third)).toEqual(outcome(first))
      tried += 1
    }),
    { numRuns: 300 },
  )
  expect(tried).toBeGreaterThan(200)
}, 120_000)

const trigger = block('start', 'api_trigger')
const call = (id: string, path: string, more = {}) =>
  block(id, 'api', { url: `http://example.org/${path}`, retries: 0 }, more)

const line = document({
  blocks: [trigger, call('a', 'a/<api.input.text>'), call('b', 'b/<a.data.path>'), call('c', 'c/<b.data.path>')],
  edges: ['start > a', 'a > b', 'b > c'],
})

const looping = document({
  variables: { seen: { value: '' } },
  blocks: [
    trigger,
    call('before', 'before'),
    block('loop', 'loop'),
    call('one', 'one/<loop.index>', { parentId: 'loop' }),
    block(
      'count',
      'variables',
      { assign: [{ name: 'seen', value: '<variable.seen>|<one.data.path>' }] },
      { parentId: 'loop' },
    ),
    call('two', 'two/<loop.currentItem>/<one.data.path>', { parentId: 'loop' }),
    call('after', 'after/<variable.seen>'),
  ],
  edges: [
    'start > before',
    'before > loop',
    'loop:loop-start-source > one',
    'one > count',
    'count > two',
    'loop > after',
  ],
  loops: { loop: { loopType: 'forEach', forEachItems: ['x', 'y', 'z'] } },
})

describe('a run from a block', () => {
  test('does not run the blocks before it, and marks them in the trace', async () => {
    const first = (await world.run(line, input)).record
    const second = await again(line, { from: { blockId: 'b' } }, pastOf(first))
    expect(requests.map((path) => path.split('/')[1])).toEqual(['b', 'c'])
    expect(second.output).toEqual(first.output)
    const spans = spansOf(second.root)
    expect(spans.get('a')?.[0]).toMatchObject({
      reused: true,
      durationMs: 0,
      output: spansOf(first.root).get('a')?.[0]?.output,
    })
    expect(spans.get('b')?.[0]?.reused).toBeUndefined()
    expect(asLogged(second)).toContain('"reused":true')
  })

  test('uses the cached outputs, not the outputs that the blocks would have now', async () => {
    const first = (await world.run(line, input)).record
    const second = await again(line, { from: { blockId: 'b' } }, pastOf(first), { text: 'something else' })
    expect(second.output).toEqual(first.output)
  })

  test('uses the cached outputs and the variables of earlier iterations', async () => {
    const first = (await world.run(looping, input)).record
    const second = await again(looping, { from: { blockId: 'two', iterations: [1] } }, pastOf(first))
    expect(requests.map((path) => path.split('/').slice(1, 3).join('/'))).toEqual([
      'two/y',
      'one/2',
      'two/z',
      expect.stringMatching(/^after/),
    ])
    expect(second.output).toEqual(first.output)
    const third = await again(looping, { from: { blockId: 'after' } }, pastOf(first))
    expect(requests).toHaveLength(1)
    expect(third.output).toEqual(first.output)
  })

  test('runs blocks that the previous run did not reach', async () => {
    const cut = (await world.run(line, input, { partial: planPartial(world.plan(line), { until: 'a' }, undefined) }))
      .record
    expect(requests.at(-1)).toStartWith('/a')
    const second = await again(line, { from: { blockId: 'c' } }, pastOf(cut))
    expect(requests.map((path) => path.split('/')[1])).toEqual(['b', 'c'])
    expect(second.output).toEqual((await world.run(line, input)).record.output)
  })

  test('continues after a block that failed in the previous run if it succeeds now', async () => {
    const failing = document({
      blocks: [trigger, call('a', 'a'), call('b', 'b/<a.data.path>/<api.input.text>'), call('c', 'c')],
      edges: ['start > a', 'a > b', 'b > c'],
    })
    const first = (await world.run(failing, { text: 'fails' })).record
    expect(first.failure?.blockId).toBe('b')
    const repaired = { ...failing, blocks: { ...failing.blocks, b: call('b', 'b/<a.data.path>') } }
    const second = await again(repaired, { from: { blockId: 'b' } }, pastOf(first))
    expect(second.failure).toBeNull()
    expect(requests.map((path) => path.split('/')[1])).toEqual(['b', 'c'])
  })

  const token = (value: string) =>
    document({
      blocks: [
        trigger,
        block('make', 'variables', { assign: [{ name: 'v', value }] }),
        block('big', 'function', { code: 'return "x".repeat(300000)' }),
        call('use', '<make.v>'),
        call('size', '<big.result.length>'),
        call('end', 'end'),
      ],
      edges: ['start > make', 'make > big', 'big > use', 'use > size', 'size > end'],
      variables: { v: { value: '' } },
    })

  test('is refused, naming the block, when a block that runs reads outputs that the log hid or shortened', async () => {
    const workflow = token('Bearer the secret value')
    const first = (await world.run(workflow, input)).record
    const refused = again(workflow, { from: { blockId: 'use' } }, pastOf(first))
    expect(refused).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('{{TOKEN}}') })
    const details = await refused.catch(({ details }: { details: { path: string }[] }) => details)
    expect(details).toMatchObject([{ path: 'make' }, { path: 'big', message: expect.stringContaining('300') }])
    // The run in memory still has the value.
    expect((await again(workflow, { from: { blockId: 'use' } }, wholeOf(first))).output).toEqual(first.output)
  })

  test('runs when no block needs the outputs that the log shortened', async () => {
    const workflow = token('harmless')
    const first = (await world.run(workflow, input)).record
    expect((await again(workflow, { from: { blockId: 'end' } }, pastOf(first))).output).toEqual(first.output)
  })

  test('passes through a block that has been disabled since then', async () => {
    const first = (await world.run(line, input)).record
    const a = { ...call('a', 'a/<api.input.text>'), enabled: false }
    const changed = { ...line, blocks: { ...line.blocks, a } }
    await again(changed, { from: { blockId: 'b' } }, pastOf(first))
    expect(requests[0]).toBe('/b/')
  })

  test('an unknown block is refused', () => {
    expect(() => planPartial(world.plan(line), { from: { blockId: 'nowhere' } }, undefined)).toThrow(
      'no block "nowhere"',
    )
  })
})

describe('a run up to a block', () => {
  test('skips the blocks that it does not need, and ends with the output of the block', async () => {
    const forked = document({
      blocks: [trigger, call('a', 'a'), call('b', 'b/<a.data.path>'), call('side', 'side'), call('c', 'c')],
      edges: ['start > a', 'start > side', 'a > b', 'b > c'],
    })
    const record = await again(forked, { until: 'b' })
    expect(requests.map((path) => path.split('/')[1])).toEqual(['a', 'b'])
    expect(record.failure).toBeNull()
    expect(record.output).toMatchObject({ status: 200, data: { path: expect.stringMatching(/^b/) } })
    expect(spansOf(record.root).has('side')).toBe(false)
  })

  test('ends with the first iteration when the block is in a loop', async () => {
    const record = await again(looping, { until: 'two' })
    expect(requests.map((path) => path.split('/')[1])).toEqual(['before', 'one', 'two'])
    expect(record.output).toMatchObject({ data: { path: expect.stringMatching(/^two/) } })
  })

  test('and from a block runs the blocks between the two', async () => {
    const first = (await world.run(line, input)).record
    const record = await again(line, { from: { blockId: 'b' }, until: 'b' }, pastOf(first))
    expect(requests).toHaveLength(1)
    expect(record.output).toEqual(spansOf(first.root).get('b')?.[0]?.output)
  })
})

describe('one block alone', () => {
  test('runs with the cached outputs of the others', async () => {
    const first = (await world.run(line, input)).record
    const record = await again(line, { only: { blockId: 'b' } }, pastOf(first))
    expect(requests.map((path) => path.split('/')[1])).toEqual(['b'])
    expect(record.output).toEqual(spansOf(first.root).get('b')?.[0]?.output)
    expect(record.root.children.map(({ name }: Span) => name)).toEqual(['b'])
  })

  test('runs in an iteration of its loop, with the variables of that moment', async () => {
    const first = (await world.run(looping, input)).record
    const [, second] = spansOf(first.root).get('two') ?? []
    const record = await again(looping, { only: { blockId: 'two', iterations: [1] } }, pastOf(first))
    expect(requests).toHaveLength(1)
    expect(record.output).toEqual(second?.output)
    const [, counted] = spansOf(first.root).get('count') ?? []
    const count = await again(looping, { only: { blockId: 'count', iterations: [1] } }, pastOf(first))
    expect(count.output).toEqual(counted?.output)
  })

  test('may be a whole loop', async () => {
    const first = (await world.run(looping, input)).record
    const record = await again(looping, { only: { blockId: 'loop' } }, pastOf(first))
    expect(requests).toHaveLength(6)
    expect(record.output).toEqual(spansOf(first.root).get('loop')?.[0]?.output)
  })

  test('fails the run when it fails', async () => {
    const failing = document({ blocks: [trigger, call('bad', 'fails')], edges: ['start > bad'] })
    expect((await again(failing, { only: { blockId: 'bad' } })).failure?.blockId).toBe('bad')
  })
})
