import { expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import { finish, type InSlices } from '../../../src/domain/slices.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import type { RunRequest } from '../../../src/engine/run/run-request.ts'
import { runResponse } from '../../../src/http/responses/run-response.ts'
import { streamRun } from '../../../src/http/streams/run-stream.ts'
import { ManualClock } from '../../support/clock.ts'
import { runRecord } from '../../support/events/run-record.ts'
import { block, document } from '../../support/make.ts'

const { plan } = compilePlan(
  document({ blocks: [block('start', 'api_trigger'), block('w', 'wait', { ms: 1 })], edges: ['start > w'] }),
  registry,
  defaultLimits,
)
const failure = new AppError('STORAGE_UNAVAILABLE', 'The disk is full')

/** A run that starts the given number of blocks and then cannot be recorded. */
function failing(clock: ManualClock, started: readonly string[]) {
  const lost: AppError[] = []
  const response = streamRun({
    inSlices: async (slices) => finish(slices),
    request: {
      plan: plan!,
      workflowId: 'w',
      workspaceId: 'w',
      version: 1,
      trigger: 'api',
      input: { input: {}, fields: {} },
    },
    selected: [],
    execute: ({ observer }: RunRequest) => {
      for (const blockId of started)
        observer?.started?.({ blockId } as Span, { depth: 0, iterations: [], parentId: null })
      return Promise.reject(failure)
    },
    clock,
    callerSignal: undefined,
    bytesWaitingMax: 1_000,
    disconnect: () => undefined,
    headers: {},
    lost: (error) => lost.push(error),
  })
  return { response, lost }
}

test('a run that fails as soon as its first block has started ends its stream', async () => {
  const clock = new ManualClock()
  const { response, lost } = failing(clock, ['start', 'w'])
  const text = await (await response).text()
  expect(text).toContain('"code":"STORAGE_UNAVAILABLE"')
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(lost).toEqual([failure])
  expect(clock.pending).toBe(0)
})

test('a run that fails before its first block is refused like any other, and leaves no timer behind', async () => {
  const clock = new ManualClock()
  const { response, lost } = failing(clock, ['start'])
  const thrown = await response.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBe(failure)
  expect(lost).toEqual([])
  expect(clock.pending).toBe(0)
})

test('a large value does not change the order of the messages', async () => {
  const order: string[] = []
  const inSlices: InSlices = async (slices) => {
    await new Promise((resolve) => setImmediate(resolve))
    return finish(slices)
  }
  const rows = Array.from({ length: 100_000 }, (_, index) => index)
  const place = { depth: 0, iterations: [], parentId: null }
  const response = await streamRun({
    ...{ inSlices, clock: new ManualClock(), callerSignal: undefined, bytesWaitingMax: 10_000_000, headers: {} },
    request: {
      ...{ plan: plan!, workflowId: 'w', workspaceId: 'w', version: 1, trigger: 'api' },
      input: { input: {}, fields: {} },
    },
    selected: [{ entry: 'w', blockId: 'w', path: [], isRepeated: false }],
    execute: async ({ observer }: RunRequest) => {
      observer?.started?.({ blockId: 'w' } as Span, place)
      for (const output of [{ n: 1 }, { rows }, { n: 2 }]) {
        observer?.ended?.({ blockId: 'w', status: 'success', output } as unknown as Span, place)
      }
      return { record: runRecord(), response: undefined, suspension: undefined, observer }
    },
    disconnect: () => order.push('disconnected'),
    lost: (error) => order.push(error.message),
  })
  for (const line of (await response.text()).split('\n\n')) {
    if (!line.startsWith('data: {')) continue
    const { event, chunk } = JSON.parse(line.slice(6)) as { event?: string; chunk?: string }
    order.push(event ?? (chunk as string))
  }
  expect(order).toEqual(['{"n":1}', JSON.stringify({ rows }), '{"n":2}', 'done'])
})

test('a large output is written in slices, and is the same', async () => {
  let works = 0
  const inSlices: InSlices = async (slices) => {
    works += 1
    return finish(slices)
  }
  const unsent = { body: (_: string, text: string) => text, hold: () => () => undefined }
  const rows = Array.from({ length: 100_000 }, (_, index) => index)
  const end = { response: undefined, suspension: undefined, observer: undefined }
  const large = await runResponse({ ...end, record: runRecord({ output: { rows } }) }, {}, { inSlices, unsent })
  expect(await large.json()).toMatchObject({ success: true, output: { rows } })
  expect(works).toBe(1)
  const response = { data: { rows }, status: 200, headers: {} }
  const content = await runResponse({ ...end, response, record: runRecord() }, {}, { inSlices, unsent })
  expect(await content.json()).toEqual({ rows })
  expect(works).toBe(2)
  expect(runResponse({ ...end, record: runRecord({ output: { n: 1 } }) }, {}, { inSlices, unsent })).toBeInstanceOf(
    Response,
  )
})
