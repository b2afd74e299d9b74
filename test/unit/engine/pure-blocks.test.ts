import { afterAll, expect, test } from 'bun:test'
import type { OutboundFetch } from '../../../src/domain/outbound-request.ts'
import { StepHistory } from '../../../src/engine/run/step-history.ts'
import { block, document } from '../../support/make.ts'
import { World } from './world.ts'

/** The steps on disk, and their number at the time of each request. */
const steps: string[] = []
const onDiskAtRequest: number[] = []
const fetch: OutboundFetch = async ({ url }) => {
  onDiskAtRequest.push(steps.length)
  return { ok: true, response: { status: 200, headers: {}, body: new TextEncoder().encode('ok'), url } }
}
const world = new World({ fetch })
afterAll(() => world.stop())

const choose = (id: string) => block(id, 'condition', { conditions: [{ id: 'big', expression: '<api.input.n> > 3' }] })
const trigger = block('start', 'api_trigger')
const history = (write = async () => {}) => {
  steps.splice(0)
  onDiskAtRequest.splice(0)
  return new StepHistory([], async (_number, text) => {
    await write()
    steps.push(text)
  })
}
const run = { executionId: 'run-1', startedAt: 0, timeoutMs: Number.MAX_SAFE_INTEGER }

test('a run of pure blocks writes only its end', async () => {
  const draft = document({
    blocks: [trigger, choose('if'), block('r', 'response', { data: { big: true } })],
    edges: ['start > if', 'if:condition-big > r'],
  })
  const { record } = await world.run(draft, { n: 5 }, { ...run, history: history() })
  expect(record.failure).toBeNull()
  expect(record.output).toMatchObject({ data: { big: true } })
  expect(steps).toEqual([])
})

test('deferred steps are on disk before a block with outside effects starts, in any branch', async () => {
  const draft = document({
    blocks: [
      ...[trigger, choose('if'), choose('again')],
      ...['a', 'b'].map((id) => block(id, 'api', { url: `http://example.org/${id}`, retries: 0 })),
    ],
    edges: ['start > if', 'if:condition-big > again', 'again:condition-big > a', 'again:condition-big > b'],
  })
  const { record } = await world.run(draft, { n: 5 }, { ...run, history: history(() => Bun.sleep(1)) })
  expect(record.failure).toBeNull()
  expect(onDiskAtRequest).toEqual([2, 2])
  expect(steps).toHaveLength(4)
})

test('a run that cannot write its deferred steps stops before a block with outside effects', async () => {
  const draft = document({
    blocks: [trigger, choose('if'), block('a', 'api', { url: 'http://example.org/a', retries: 0 })],
    edges: ['start > if', 'if:condition-big > a'],
  })
  const failing = history(() => Promise.reject(new Error('The disk is full')))
  const { suspension } = await world.run(draft, { n: 5 }, { ...run, history: failing })
  expect(suspension?.cause).toMatchObject({ message: 'The disk is full' })
  expect(onDiskAtRequest).toEqual([])
})

test('the number of blocks that run again after a crash is limited', async () => {
  const draft = document({
    blocks: [trigger, block('loop', 'loop'), { ...choose('if'), parentId: 'loop' }],
    edges: ['start > loop', 'loop:loop-start-source > if'],
    loops: { loop: { loopType: 'for', iterations: 250 } },
  })
  const { record } = await world.run(draft, { n: 5 }, { ...run, history: history() })
  expect(record.failure).toBeNull()
  expect(steps).toHaveLength(200)
})

test('a run whose job is not on disk yet waits before a block with outside effects', async () => {
  onDiskAtRequest.splice(0)
  const accepted = Promise.withResolvers<void>()
  const draft = document({
    blocks: [trigger, choose('if'), block('a', 'api', { url: 'http://example.org/a', retries: 0 })],
    edges: ['start > if', 'if:condition-big > a'],
  })
  const going = world.run(draft, { n: 5 }, { ...run, history: new StepHistory([], async () => {}, accepted.promise) })
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(onDiskAtRequest).toHaveLength(0)
  accepted.resolve()
  expect((await going).record.failure).toBeNull()
  expect(onDiskAtRequest).toHaveLength(1)
})

test('a run whose job could not be written stops before a block with outside effects', async () => {
  onDiskAtRequest.splice(0)
  const draft = document({
    blocks: [trigger, block('a', 'api', { url: 'http://example.org/a', retries: 0 })],
    edges: ['start > a'],
  })
  const refused = Promise.reject(new Error('The disk is full'))
  const { suspension } = await world.run(draft, {}, { ...run, history: new StepHistory([], async () => {}, refused) })
  expect(suspension?.cause).toMatchObject({ message: 'The disk is full' })
  expect(onDiskAtRequest).toEqual([])
})
