import { afterAll, describe, expect, test } from 'bun:test'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { LiveEvent } from '../../../src/domain/run/live-event.ts'
import type { RunRecord } from '../../../src/domain/run/log.ts'
import type { RunInSight, RunObserver } from '../../../src/domain/run/run-observer.ts'
import { RunBus, type Watcher } from '../../../src/events/bus.ts'
import { block, document } from '../../support/make.ts'
import { World } from '../engine/world.ts'

const trigger = block('start', 'api_trigger')
const inside = (parentId: string) => ({ parentId })
const called = document({
  name: 'Called',
  blocks: [trigger, block('deep', 'wait', { ms: 0 })],
  edges: ['start > deep'],
})

/** Calls that wait until the test releases them. */
const waiting: (() => void)[] = []
const world = new World({
  deployed: { called },
  fetch: async ({ url }) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { ok: true, response: { status: 200, headers: {}, body: new Uint8Array(), url } }
  },
})
afterAll(() => world.stop())

async function letGo(): Promise<void> {
  while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
  waiting.shift()?.()
}

class Reader implements Watcher {
  readonly events: LiveEvent[] = []
  hasEnded = false

  message(text: string): void {
    this.events.push(JSON.parse(text) as LiveEvent)
  }

  end(): void {
    this.hasEnded = true
  }

  /** `block.started a`, `block.ended loop.one 1`, … */
  get lines(): string[] {
    return this.events.map((each) => {
      if (each.event === 'block.chunk') return `${each.event} ${each.blockId} ${each.chunk}`
      if (each.event !== 'block.started' && each.event !== 'block.ended') return each.event
      return [each.event, each.span.name, ...each.iterations, ...(each.depth ? [`depth ${each.depth}`] : [])].join(' ')
    })
  }
}

const busOf = (watchersMax = 10) =>
  new RunBus({
    observe: (executionId, observer) => world.runner.observe(executionId, observer),
    watchersMax,
    shareFactor: 4,
  })

const calling = document({
  blocks: [
    trigger,
    block('loop', 'loop'),
    block('each', 'wait', { ms: 0 }, inside('loop')),
    block('never', 'condition', { conditions: [{ id: 'no', expression: 'false' }] }),
    block('skipped', 'wait', { ms: 0 }),
    block('call', 'workflow', { workflowId: 'called' }),
    block('slow', 'api', { url: 'http://example.org' }),
    block('last', 'wait', { ms: 0 }),
  ],
  edges: [
    'start > loop',
    'loop:loop-start-source > each',
    'loop:loop-end-source > never',
    'never:condition-no > skipped',
    'never:condition-else > call',
    'call > slow',
    'slow > last',
  ],
  loops: { loop: { loopType: 'for', iterations: 2 } },
})

const whole = [
  'run.started',
  ...['block.started start', 'block.ended start', 'block.started loop'],
  ...['block.started each 0', 'block.ended each 0', 'block.started each 1', 'block.ended each 1', 'block.ended loop'],
  ...['block.started never', 'block.ended never', 'block.started call', 'block.ended skipped'],
  ...['block.started start depth 1', 'block.ended start depth 1'],
  ...['block.started deep depth 1', 'block.ended deep depth 1', 'block.ended call'],
  ...['block.started slow', 'block.ended slow', 'block.started last', 'block.ended last', 'run.ended'],
]

describe('live events', () => {
  test('include everything in a run that is watched from its start, and its end', async () => {
    const bus = busOf()
    const reader = new Reader()
    const observer = bus.open({ executionId: 'run-1', workspaceId: 'w' })
    bus.watch('run-1', reader)
    const running = world.run(calling, {}, { executionId: 'run-1', observer })
    await letGo()
    const { record } = await running
    expect(reader.lines.toSorted()).toEqual(whole.toSorted())
    expect(reader.lines.at(-1)).toBe('run.ended')
    expect(reader.events.at(-1)).toMatchObject({ status: 'success', error: null, duration: record.durationMs })
    const skipped = reader.events.find((each) => each.event === 'block.ended' && each.span.name === 'skipped')
    expect(skipped).toMatchObject({ span: { status: 'skipped', duration: 0 } })
    expect(reader.hasEnded).toBe(true)
    expect(bus.channels).toBe(0)
    expect(bus.watchers).toBe(0)
  })

  test('start with all earlier events for a late watcher of an unwatched run', async () => {
    const bus = busOf()
    const running = world.run(calling, {}, { executionId: 'run-2' })
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(bus.channels).toBe(0)
    const [late, later] = [new Reader(), new Reader()]
    bus.watch('run-2', late)
    bus.watch('run-2', later)
    const soFar = [
      'run.started',
      ...['block.ended start', 'block.ended loop', 'block.ended each 0', 'block.ended each 1', 'block.ended never'],
      ...['block.ended skipped', 'block.ended call', 'block.ended start depth 1', 'block.ended deep depth 1'],
      'block.started slow',
    ]
    expect(late.lines.toSorted()).toEqual(soFar.toSorted())
    await letGo()
    await running
    expect(late.lines.slice(soFar.length)).toEqual([
      'block.ended slow',
      'block.started last',
      'block.ended last',
      'run.ended',
    ])
    expect(later.lines).toEqual(late.lines)
    expect([late.hasEnded, later.hasEnded, bus.watchers]).toEqual([true, true, 0])
  })

  test('wait for an announced run while it has a watcher', async () => {
    const bus = busOf()
    const expected = { executionId: 'run-9', workspaceId: 'w' }
    const [gone, reader] = [new Reader(), new Reader()]
    bus.watch('run-9', gone, expected)?.()
    expect([bus.channels, bus.watchers, bus.awaiting('run-9')]).toEqual([0, 0, undefined])
    bus.watch('run-9', reader, expected)
    const observer = bus.awaiting('run-9')
    const running = world.run(calling, {}, { executionId: 'run-9', ...(observer && { observer }) })
    await letGo()
    await running
    expect(reader.lines.toSorted()).toEqual(whole.toSorted())
    expect([reader.hasEnded, gone.lines, bus.channels]).toEqual([true, [], 0])
  })

  test('end for watchers of an announced run that has already ended, or never starts', async () => {
    const bus = busOf()
    const [late, left] = [new Reader(), new Reader()]
    bus.watch('run-10', late, { executionId: 'run-10', workspaceId: 'w' })
    bus.watch('run-11', left, { executionId: 'run-11', workspaceId: 'w' })
    bus.settle('run-10', ['{"event":"run.ended"}'])
    expect([late.lines, late.hasEnded, left.hasEnded]).toEqual([['run.ended'], true, false])
    bus.close()
    expect([left.lines, left.hasEnded, bus.channels, bus.watchers]).toEqual([[], true, 0, 0])
  })

  test('are not available for a run that is not in flight', async () => {
    expect(busOf().watch('run-0', new Reader())).toBeUndefined()
  })

  test('end for a watcher that leaves, and for no other watcher', async () => {
    const bus = busOf()
    const [stays, leaves] = [new Reader(), new Reader()]
    const observer = bus.open({ executionId: 'run-3', workspaceId: 'w' })
    bus.watch('run-3', stays)
    const leave = bus.watch('run-3', leaves)
    const running = world.run(calling, {}, { executionId: 'run-3', observer })
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    leave?.()
    leave?.()
    expect(bus.watchers).toBe(1)
    await letGo()
    await running
    expect(leaves.lines).not.toContain('run.ended')
    expect(stays.lines).toContain('run.ended')
  })

  test('can be requested for a run that has not started, for example because it waits for its environment', () => {
    const bus = busOf()
    bus.open({ executionId: 'run-7', workspaceId: 'w' })
    expect(bus.find('run-7')).toEqual({ executionId: 'run-7', workspaceId: 'w' })
    expect(bus.find('run-8')).toBeUndefined()
  })

  test('are refused to a workspace that has its share of the watchers, and to no other one', () => {
    const bus = busOf(10)
    bus.open({ executionId: 'run-4', workspaceId: 'w' })
    bus.open({ executionId: 'run-5', workspaceId: 'other' })
    const leaves = Array.from({ length: 8 }, () => bus.watch('run-4', new Reader()))
    expect(() => bus.watch('run-4', new Reader())).toThrow('MILLRACE_WATCHERS_MAX')
    leaves.push(bus.watch('run-5', new Reader()))
    for (const leave of leaves) leave?.()
    expect(bus.watchers).toBe(0)
  })

  test('report a run as lost when its log entry cannot be written', async () => {
    const broken = new World({ record: () => Promise.reject(new Error('The disk is full')) })
    const bus = busOf()
    const reader = new Reader()
    const observer = bus.open({ executionId: 'run-5', workspaceId: 'w' })
    bus.watch('run-5', reader)
    const running = broken.run(document({ blocks: [trigger] }), {}, { executionId: 'run-5', observer })
    expect(running).rejects.toThrow('disk')
    await running.catch(() => undefined)
    expect(reader.lines.at(-1)).toBe('run.lost')
    expect(reader.hasEnded).toBe(true)
  })
})

const nowhere = { depth: 0, iterations: [], parentId: null }

/** Sends events of a streaming run to a channel, like the engine. */
function streaming(secret: string | undefined) {
  const bus = busOf()
  const observer = bus.open({ executionId: 'run-6', workspaceId: 'w' })
  const span = (id: string, blockId: string | null, type: string): RunInSight['root'] => ({
    ...{ id, blockId, type, name: 'Agent', status: 'success', input: null, output: null, error: null, attempts: null },
    ...{ startTime: 0, endTime: 0, durationMs: 0, children: [] },
  })
  const root = span('s1', null, 'workflow')
  const agent = span('s2', 'agent', 'agent')
  const secrets = createRedactor(secret === undefined ? [] : [{ name: 'KEY', value: secret }])
  const facts = { executionId: 'run-6', workflowId: 'w', workspaceId: 'ws', trigger: 'manual', startedAt: 0 } as const
  observer.began?.({ ...facts, root, secrets })
  root.children.push(agent)
  observer.started?.(agent, nowhere)
  const say = (text: string) => observer.chunk?.(agent, text, nowhere)
  const end = (observer: RunObserver, output: unknown) => {
    agent.output = output
    observer.ended?.(agent, nowhere)
  }
  return { bus, observer, say, end: (output: unknown) => end(observer, output) }
}

describe('streamed text', () => {
  test('is sent from its beginning to a watcher that arrives later', () => {
    const { bus, say, end } = streaming(undefined)
    say('Once upon ')
    say('a time')
    const reader = new Reader()
    bus.watch('run-6', reader)
    say(' there was.')
    end({ content: 'Once upon a time there was.' })
    expect(reader.lines).toEqual([
      'run.started',
      'block.started Agent',
      'block.chunk agent Once upon a time',
      'block.chunk agent  there was.',
      'block.ended Agent',
    ])
  })

  test('contains no secret, whole or in pieces, and neither do values, names and errors', () => {
    const { bus, observer, say, end } = streaming('sk-1234567890')
    const reader = new Reader()
    bus.watch('run-6', reader)
    for (const piece of ['Your key: s', 'k-123', '4567890', ', keep it']) say(piece)
    end({ content: 'Your key: sk-1234567890, keep it' })
    const failure = {
      code: 'EXECUTION_FAILED',
      message: 'Bad sk-1234567890',
      blockId: 'agent',
      blockName: 'Agent',
    } as const
    const cost = { total: 0, tokens: { prompt: 0, completion: 0, total: 0 }, models: {} }
    const record = { failure, output: 'sk-1234567890', cost, endedAt: 1, durationMs: 1 }
    observer.recorded?.(record as unknown as RunRecord)
    const chunks = reader.events.flatMap((each) => (each.event === 'block.chunk' ? [each.chunk] : []))
    expect(chunks.join('')).toBe('Your key: {{KEY}}, keep it')
    expect(JSON.stringify(reader.events)).not.toContain('1234567890')
    expect(reader.events.at(-1)).toMatchObject({ error: { message: 'Bad {{KEY}}' }, output: '{{KEY}}' })
  })

  test('that is long keeps only its end for late watchers', () => {
    const { bus, say } = streaming(undefined)
    for (let piece = 0; piece < 1_000; piece += 1) say(`${piece} `.padEnd(1_000, '.'))
    const reader = new Reader()
    bus.watch('run-6', reader)
    const [told] = reader.events.flatMap((each) => (each.event === 'block.chunk' ? [each.chunk] : []))
    expect(told?.length).toBeLessThanOrEqual(131_072)
    expect(told).toContain('999 ...')
  })
})
