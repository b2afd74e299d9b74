import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rememberedRun, rememberRun } from '../../../../../src/ui/editor/run/remembered-runs.ts'
import { RunWatch } from '../../../../../src/ui/editor/run/run-watch.ts'
import { until } from '../../../../support/ui/editor-page.ts'

const own = { fetch: globalThis.fetch, requestAnimationFrame: globalThis.requestAnimationFrame }
beforeEach(() => {
  globalThis.requestAnimationFrame = ((tell: () => void) => setTimeout(tell, 0)) as never
})
afterEach(() => {
  Object.assign(globalThis, own)
})

const draft = { name: 'Draft', blocks: {}, edges: [] }
const started = { event: 'run.started', workflowId: 'w', startedAt: '2025-06-01T00:00:00.000Z', earlier: 0 }
const begun = {
  event: 'block.started',
  span: { id: 's2', name: 'a', type: 'wait', blockId: 'a' },
  iterations: [],
  depth: 0,
}
const ended = { event: 'run.ended', status: 'success', duration: 5, output: 'given', error: null, cost: { total: 0 } }

/** A fake service that streams the events the test passes; null closes the stream. */
function service(response: () => Response = () => Response.json({ executionId: 'new' }, { status: 202 })) {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  globalThis.fetch = (async (address: string) => {
    if (!address.endsWith('/events')) return response()
    if (address.includes('/gone/')) return Response.json({ error: 'No such run', code: 'NOT_FOUND' }, { status: 404 })
    return new Response(new ReadableStream<Uint8Array>({ start: (stream) => void streams.push(stream) }))
  }) as unknown as typeof fetch
  return async (...events: (object | null)[]) => {
    const stream = await until(async () => streams.at(-1))
    for (const event of events) {
      if (event) stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`))
      else stream.close()
    }
  }
}

const latest = { executionId: 'old', wholeId: 'old' }

describe('restoring a run', () => {
  test('shows its result once it is known to have ended', async () => {
    const tell = service()
    const watch = new RunWatch('w')
    const resumed = watch.resume(latest)
    await tell(started)
    expect([watch.state().phase, watch.isRunning]).toEqual(['idle', false])
    await tell(ended, null)
    expect(await resumed).toBe(true)
    expect(watch.state()).toMatchObject({ phase: 'success', isPast: true, output: 'given', ...latest })
  })

  test('does not show a run of another workflow', async () => {
    const tell = service()
    const watch = new RunWatch('other')
    const resumed = watch.resume(latest)
    await tell(started, ended, null)
    expect(await resumed).toBe(false)
    expect(watch.state().phase).toBe('idle')
  })

  test('follows a run that has not ended', async () => {
    const tell = service()
    const watch = new RunWatch('w')
    const resumed = watch.resume(latest)
    await tell(started, begun)
    await until(async () => watch.isRunning)
    expect(watch.state().isPast).toBe(false)
    await tell(ended, null)
    await resumed
    expect(watch.state().phase).toBe('success')
  })

  test('stops following when the editor closes, and remembers the run', async () => {
    const tell = service()
    const response = globalThis.fetch
    const signals: (AbortSignal | null | undefined)[] = []
    globalThis.fetch = ((address: string, init?: RequestInit) => {
      signals.push(init?.signal)
      return response(address, init)
    }) as unknown as typeof fetch
    const watch = new RunWatch('w')
    const resumed = watch.resume(latest)
    await tell(started, begun)
    await until(async () => watch.isRunning)
    watch.leave()
    expect(signals.map((signal) => signal?.aborted)).toEqual([true])
    await tell(ended, null)
    await resumed
    expect(watch.state()).toMatchObject({ phase: 'running', ...latest })
  })

  test('shows nothing when the service no longer knows the run or cannot be reached', async () => {
    service()
    const watch = new RunWatch('w')
    expect(await watch.resume({ executionId: 'gone', wholeId: undefined })).toBe(false)
    expect(watch.state().phase).toBe('idle')
    globalThis.fetch = (() => Promise.reject(new TypeError('Failed to fetch'))) as unknown as typeof fetch
    const other = new RunWatch('w')
    expect(await other.resume(latest)).toBe(true)
    expect(other.state().phase).toBe('idle')
  })

  test('gives way to a run started in the meantime', async () => {
    const tell = service()
    const watch = new RunWatch('w')
    const resumed = watch.resume(latest)
    await tell(started)
    const running = watch.start({}, draft)
    await until(async () => watch.state().executionId === 'new')
    expect(await resumed).toBe(true)
    await tell(started, ended, null)
    await running
    expect(watch.state()).toMatchObject({ phase: 'success', isPast: false, executionId: 'new', wholeId: 'new' })
  })
})

describe('starting a run', () => {
  test('keeps the state of the previous run when it is rejected', async () => {
    const responses = [
      Response.json({ executionId: 'new' }, { status: 202 }),
      Response.json({ error: 'No', code: 'INVALID_INPUT' }, { status: 400 }),
    ]
    const tell = service(() => responses.shift()!)
    const watch = new RunWatch('w')
    const running = watch.start({}, draft)
    await tell(started, ended, null)
    await running
    const before = watch.state()
    const rejected = watch.start({}, draft)
    expect(watch.state()).toMatchObject({ phase: 'starting', entries: before.entries })
    await rejected.then(
      () => expect.unreachable(),
      (error: Error) => expect(error.message).toBe('No'),
    )
    expect(watch.state()).toBe(before)
  })

  test('is possible again after the connection was lost', async () => {
    const tell = service()
    const watch = new RunWatch('w')
    const running = watch.start({}, draft)
    await tell(started, begun, null)
    await running
    expect([watch.isRunning, watch.state().error?.message]).toEqual([false, expect.stringContaining('lost')])
    // Whether the run continues is unknown.
    expect([watch.state().blocks.size, watch.state().entries]).toEqual([0, []])
  })
})

describe('remembered runs', () => {
  const kept = new Map<string, string>()
  beforeEach(() => {
    kept.clear()
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
    }
    Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
  })
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'localStorage')
  })

  test('hold the latest run of each workflow, up to a limit', () => {
    for (let at = 0; at < 60; at += 1) rememberRun(`w${at}`, { executionId: `e${at}`, wholeId: undefined })
    rememberRun('w59', latest)
    expect([rememberedRun('w59'), rememberedRun('w10')?.executionId]).toEqual([expect.objectContaining(latest), 'e10'])
    expect(rememberedRun('w9')).toBeUndefined()
    rememberRun('w59', undefined)
    expect(rememberedRun('w59')).toBeUndefined()
  })

  test('ignore anything they did not write', () => {
    for (const text of ['{', '7', '[null, 3, {"workflowId":"w"}]']) {
      kept.set('millrace.latest-runs', text)
      expect(rememberedRun('w')).toBeUndefined()
    }
  })
})
