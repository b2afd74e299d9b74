import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { systemClock } from '../../../src/domain/clock.ts'
import type { OutboundFetch } from '../../../src/domain/outbound-request.ts'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { Span } from '../../../src/domain/run/log.ts'
import { SliceQueue } from '../../../src/domain/slice-queue.ts'
import { StepHistory } from '../../../src/engine/run/step-history.ts'
import { ManualClock } from '../../support/clock.ts'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const trigger = block('start', 'api_trigger')
const inside = (parentId: string) => ({ parentId })

/** All requests in the order of arrival. */
const requests: string[] = []
/** Echoes the request at once; an error if the last part of the path says so. */
const fetch: OutboundFetch = async ({ url, headers }) => {
  const { pathname } = new URL(url)
  const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1] ?? ''
  requests.push(`${pathname} ${key}`)
  const status = pathname.endsWith('fails') ? 400 : 200
  const body = new TextEncoder().encode(JSON.stringify({ path: pathname }))
  return { ok: true, response: { status, headers: { 'content-type': 'application/json' }, body, url } }
}

const api = (id: string, path: string, more = {}) =>
  block(id, 'api', { url: `http://example.org/${path}`, retries: 0, ...more })

const called = document({
  name: 'Called',
  blocks: [trigger, api('inner', 'called/<api.n>'), api('inner2', 'called2/<api.n>')],
  edges: ['start > inner', 'inner > inner2'],
})

/**
 * All parts of a run: a loop that counts with a variable, a parallel, failures after which the run continues, and a
 * sub-workflow.
 */
const whole = document({
  variables: { i: { type: 'number', value: 0 } },
  blocks: [
    trigger,
    api('first', 'first'),
    block('loop', 'loop'),
    { ...api('each', 'each/<loop.index>'), ...inside('loop') },
    { ...block('count', 'variables', { assign: [{ name: 'i', value: '<loop.index>' }] }), ...inside('loop') },
    block('par', 'parallel'),
    { ...api('branch', 'branch/<parallel.index>'), ...inside('par') },
    { ...api('bad', 'branch/<parallel.index>/fails'), ...inside('par') },
    api('lost', 'lost/fails'),
    api('recovered', 'recovered'),
    block('call', 'workflow', { workflowId: 'called', input: { n: 7 } }),
    api('last', 'last', { method: 'POST', body: { from: '<call.output.data.path>', i: '<variable.i>' } }),
  ],
  edges: [
    'start > first',
    'first > loop',
    'loop:loop-start-source > each',
    'each > count',
    'loop:loop-end-source > par',
    'par:parallel-start-source > branch',
    'branch > bad',
    'par:parallel-end-source > lost',
    'lost:error > recovered',
    'recovered > call',
    'call > last',
  ],
  loops: { loop: { loopType: 'while', condition: '<variable.i> < 2' } },
  parallels: { par: { parallelType: 'count', count: 3, onError: 'continue' } },
})

const world = new World({ fetch, deployed: { called } })
afterAll(() => world.stop())

/** Runs and resumes until the run has ended. A run is interrupted when `dies` refuses to write a step. */
async function runWith(deaths: readonly number[]) {
  const steps: string[] = []
  const left = [...deaths]
  for (;;) {
    const most = left.shift() ?? Number.POSITIVE_INFINITY
    let written = 0
    const history = new StepHistory([...steps], async (number, text) => {
      if (written >= most) throw new Error('The process died')
      written += 1
      expect(number).toBe(steps.length + 1)
      steps.push(text)
    })
    const end = await world.run(whole, {}, { executionId: 'run-1', history, startedAt: Date.now() })
    if (!end.suspension) return end
  }
}

test('a run that is interrupted anywhere, any number of times, ends like an uninterrupted one', async () => {
  requests.length = 0
  const { record } = await runWith([])
  const reference = requests.toSorted()
  expect(record.failure).toBeNull()
  expect(new Set(reference).size).toBe(reference.length)
  const shape = (root: typeof record.root) =>
    [...spansOf(root)].map(([name, spans]) => [name, spans.map(({ status, output }) => ({ status, output }))])
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(8), { maxLength: 6 }), async (deaths) => {
      requests.length = 0
      const again = await runWith(deaths)
      expect(again.record.output).toEqual(record.output)
      expect(again.record.failure).toBeNull()
      expect(new Map(shape(again.record.root) as never)).toEqual(new Map(shape(record.root) as never))
      const ids = [...spansOf(again.record.root).values()].flat().map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // Only requests in flight are repeated: per crash, at most one for each branch of the parallel, with the same
      // key.
      expect(new Set(requests)).toEqual(new Set(reference))
      expect(requests.length - reference.length).toBeLessThanOrEqual(3 * deaths.length)
    }),
    { numRuns: 60 },
  )
})

test('the trace of a resumed run includes the time before the interruption', async () => {
  const clock = new ManualClock()
  const timed = new World({
    clock,
    fetch: (request) => {
      clock.advance(100)
      return fetch(request)
    },
  })
  const repeating = document({
    blocks: [trigger, block('loop', 'loop'), { ...api('each', 'each/<loop.index>'), ...inside('loop') }],
    edges: ['start > loop', 'loop:loop-start-source > each'],
    loops: { loop: { loopType: 'for', iterations: 3 } },
  })
  const steps: string[] = []
  const writing = (most: number) =>
    new StepHistory([...steps], async (_number, text) => {
      if (steps.length >= most) throw new Error('The process died')
      steps.push(text)
    })
  const facts = { executionId: 'run-3', startedAt: clock.now() }
  expect((await timed.run(repeating, {}, { ...facts, history: writing(2) })).suspension).toBeDefined()
  const { record } = await timed.run(repeating, {}, { ...facts, history: writing(9) })
  const spans = spansOf(record.root)
  const durations = (name: string) => spans.get(name)?.map(({ durationMs }) => durationMs)
  expect(durations('each')).toEqual([100, 100, 100])
  expect(durations('loop')).toEqual([400])
  expect(spans.get('loop 0')?.[0]?.startTime).toBe(facts.startedAt)
  await timed.stop()
})

test('a resumed sub-workflow uses the version that it started with', async () => {
  const asked: (number | undefined)[] = []
  const steps: string[] = []
  const versions = new World({ fetch, deployed: { called }, onDeployment: (_, version) => asked.push(version) })
  const calling = document({
    blocks: [trigger, block('call', 'workflow', { workflowId: 'called', input: { n: 1 } })],
    edges: ['start > call'],
  })
  const writing = (most: number) =>
    new StepHistory([...steps], async (_number, text) => {
      if (steps.length >= most) throw new Error('The process died')
      steps.push(text)
    })
  const facts = { executionId: 'run-2', startedAt: Date.now() }
  const first = await versions.run(calling, {}, { ...facts, history: writing(2) })
  expect(first.suspension).toBeDefined()
  const second = await versions.run(calling, {}, { ...facts, history: writing(9) })
  expect(second.record.failure).toBeNull()
  expect(asked).toEqual([undefined, 1])
  await versions.stop()
})

test('the timeout of a resumed run counts from its first start', async () => {
  const history = new StepHistory([], async () => undefined)
  const waiting = document({ blocks: [trigger, block('w', 'wait', { ms: 60_000 })], edges: ['start > w'] })
  const { record } = await world.run(waiting, {}, { history, startedAt: Date.now() - 5_000, timeoutMs: 4_000 })
  expect(record.failure?.code).toBe('EXECUTION_TIMEOUT')
  expect(record.failure?.message).toContain('MILLRACE_ASYNC_TIMEOUT_MS')
  expect(record.durationMs).toBeGreaterThanOrEqual(5_000)
})

test('a recorded secret stays hidden after its variable has changed', async () => {
  const steps: string[] = []
  const write = async (_: number, text: string) => {
    steps.push(text)
  }
  const span: Omit<Span, 'output'> = {
    ...{ id: 's2', name: 'f', type: 'function', blockId: 'f', status: 'success', input: null, error: null },
    ...{ startTime: 0, endTime: 0, durationMs: 0, attempts: null, children: [] },
  }
  const before = new StepHistory([], write)
  before.hide(createRedactor([{ name: 'TOKEN', value: 'the old value' }]))
  await before.recordBlock('1', { span: { ...span, output: { result: 'nothing' } }, port: 'source', error: null })
  expect(steps[0]).not.toContain('the old value')
  await before.recordBlock('2', { span: { ...span, output: { result: 'the old value' } }, port: 'source', error: null })

  const text = '["the old value","the new value"]'
  const changed = new StepHistory(steps, write).hide(createRedactor([{ name: 'TOKEN', value: 'the new value' }]))
  expect(changed?.redact(text)).toBe('["{{TOKEN}}","{{TOKEN}}"]')
  const gone = new StepHistory(steps, write).hide(undefined)
  expect(gone?.redact(text)).toBe('["{{TOKEN}}","the new value"]')
})

test('a large step is written in slices, and numbers have no gaps meanwhile', async () => {
  const steps: string[] = []
  const write = async (number: number, text: string) => {
    expect(number).toBe(steps.length + 1)
    steps.push(text)
  }
  const span: Omit<Span, 'output'> = {
    ...{ id: 's2', name: 'f', type: 'function', blockId: 'f', status: 'success', input: null, error: null },
    ...{ startTime: 0, endTime: 0, durationMs: 0, attempts: null, children: [] },
  }
  const large = { result: [...Array.from({ length: 200_000 }, (_, n) => n), '!@#$%^&*()'] }
  const history = new StepHistory([], write, undefined, new SliceQueue(systemClock).run)
  const redactor = createRedactor([{ name: 'SYMBOLS', value: '!@#$%^&*()' }])
  history.hide(redactor)
  const records = [large, { result: 'small' }].map((output, index) =>
    history.recordBlock(String(index), { span: { ...span, output }, port: 'source', error: null }),
  )
  // The small one is written at once.
  expect(steps.length).toBe(1)
  await Promise.all(records)
  expect(steps.length).toBe(2)
  const resumed = new StepHistory(steps, write)
  expect(resumed.block('0')?.span.output).toEqual(large)
  expect(resumed.block('1')?.span.output).toEqual({ result: 'small' })
  expect(resumed.hide(undefined)?.secrets).toEqual(redactor!.secrets)
})
