import { expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import type { RunRequest } from '../../../src/engine/run/runner.ts'
import { streamRun } from '../../../src/http/streams/run-stream.ts'
import { ManualClock } from '../../support/clock.ts'
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
