import { afterAll, beforeAll, expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { call, init, type Serving, serve } from '../../support/running-service.ts'
import { Collector } from '../../support/telemetry/collector.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

let folder: ReturnType<typeof temporaryFolder>
let collector: Collector
let receiver: Receiver
let service: Serving
let apiKey: string
let workspaceId: string
let inner: string

beforeAll(async () => {
  folder = temporaryFolder()
  collector = new Collector()
  receiver = new Receiver()
  ;({ apiKey, workspaceId } = await init(folder.path))
  service = await serve(folder.path, {
    MILLRACE_OUTBOUND_ALLOW: 'loopback',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    MILLRACE_ACCESS_LOG: 'all',
  })
  inner = await deployed({
    ...document({
      name: 'Inner',
      blocks: [
        block('start', 'api_trigger'),
        block('inner call', 'api', { method: 'GET', url: `${receiver.url}/inner` }),
      ],
      edges: ['start > inner call'],
    }),
  })
})
afterAll(async () => {
  await service.kill('SIGKILL')
  for (const each of [collector, receiver, folder]) each[Symbol.dispose]()
})

/** Returns the ID of the workflow. */
async function deployed(body: object): Promise<string> {
  const { status, body: made } = await call(`${service.url}/api/workflows`, apiKey, 'POST', body)
  expect(status).toBe(201)
  const { id } = made as { id: string }
  expect((await call(`${service.url}/api/workflows/${id}/deploy`, apiKey, 'POST')).status).toBe(200)
  return id
}

const hex = (digits: number) => crypto.getRandomValues(Buffer.alloc(digits / 2)).toString('hex')

/** A caller with a trace of its own. */
function caller(flags = '01') {
  const [traceId, spanId] = [hex(32), hex(16)]
  return { traceId, spanId, headers: { 'x-api-key': apiKey, traceparent: `00-${traceId}-${spanId}-${flags}` } }
}

const start = block('start', 'api_trigger')
const send = (url: string, headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body: '{}' })
const executeOf = (id: string) => `${service.url}/api/workflows/${id}/execute`

/** The header of the first request to a path. */
async function headerAt(path: string, name = 'traceparent'): Promise<string | null> {
  for (let count = 1; ; count += 1) {
    const found = (await receiver.arrivals(count)).find((each) => each.path === `/hook${path}`)
    if (found) return found.headers.get(name)
  }
}

async function spansOf(traceId: string, count: number) {
  const own = () => collector.spans.filter((span) => span.traceId === traceId)
  await collector.until(() => own().length >= count)
  return own()
}

test.each(['sync', 'async'])('a %s run joins the trace of its caller, and its requests carry it on', async (mode) => {
  const { traceId, spanId, headers } = caller()
  const id = await deployed(
    document({
      name: `Outer ${mode}`,
      blocks: [start, block('request', 'api', { method: 'GET', url: `${receiver.url}/${mode}` })],
      edges: ['start > request'],
    }),
  )
  const state = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'
  const sent = { ...headers, tracestate: state, 'x-execution-mode': mode }
  expect((await send(executeOf(id), sent)).ok).toBeTrue()
  const spans = await spansOf(traceId, 3)
  expect(spans.map(({ traceState }) => traceState)).toEqual([state, state, state])
  const root = spans.find(({ name }) => name === `Outer ${mode}`)
  const request = spans.find(({ name }) => name === 'request')
  expect(root).toMatchObject({ parentSpanId: spanId, kind: mode === 'sync' ? 2 : 5 })
  expect(request?.parentSpanId).toBe(root!.spanId)
  expect(await headerAt(`/${mode}`)).toBe(`00-${traceId}-${request?.spanId}-01`)
  expect(await headerAt(`/${mode}`, 'tracestate')).toBe(state)
})

test('the blocks of a called workflow belong to the trace of the run', async () => {
  const { traceId, headers } = caller()
  const id = await deployed(
    document({
      name: 'Calling',
      blocks: [start, block('calls', 'workflow', { workflowId: inner })],
      edges: ['start > calls'],
    }),
  )
  expect((await send(executeOf(id), headers)).status).toBe(200)
  const spans = await spansOf(traceId, 6)
  const named = (name: string) => spans.find((span) => span.name === name)
  expect(named('Inner')?.parentSpanId).toBe(named('calls')!.spanId)
  expect(named('inner call')?.parentSpanId).toBe(named('Inner')!.spanId)
  expect(await headerAt('/inner')).toBe(`00-${traceId}-${named('inner call')?.spanId}-01`)
})

test.each(['immediately', 'workflow'])(
  'an inbound webhook that responds %s joins the trace of its sender',
  async (respond) => {
    const { traceId, spanId, headers } = caller()
    await deployed(
      document({
        name: `Hook ${respond}`,
        blocks: [block('hook', 'webhook_trigger', { path: `in-${respond}`, respond })],
      }),
    )
    expect((await send(`${service.url}/api/webhooks/trigger/in-${respond}`, headers)).ok).toBeTrue()
    const [root] = (await spansOf(traceId, 2)).filter(({ name }) => name === `Hook ${respond}`)
    expect(root).toMatchObject({ parentSpanId: spanId, attributes: { 'millrace.trigger': 'webhook' } })
  },
)

test('a webhook delivery carries the trace of the run that it is about', async () => {
  const { traceId, headers } = caller()
  const tracestate = 'rojo=1'
  const webhooks = [{ url: `${receiver.url}/delivery`, secret: 'whsec' }]
  const id = await deployed({ ...document({ name: 'Notifies', blocks: [start] }), webhooks })
  expect((await send(executeOf(id), { ...headers, tracestate })).status).toBe(200)
  const root = (await spansOf(traceId, 2)).find(({ name }) => name === 'Notifies')
  expect(await headerAt('/delivery')).toBe(`00-${traceId}-${root?.spanId}-01`)
  expect(await headerAt('/delivery', 'tracestate')).toBe(tracestate)
})

test('a request to a language model carries the span of the request', async () => {
  const { traceId, headers } = caller()
  await using models = await ModelServer.start([
    { toolCalls: [{ id: 't1', name: 'ask', arguments: '{}' }] },
    { text: ['It rains.'] },
  ])
  const parameters = { provider: 'openai-compatible', model: 'small', baseUrl: models.url }
  const agent = block('agent', 'agent', {
    ...{ ...parameters, messages: [{ role: 'user', content: 'How is the weather?' }] },
    tools: [{ type: 'workflow', workflowId: inner, name: 'ask', description: 'asks' }],
  })
  const id = await deployed(document({ name: 'Asks', blocks: [start, agent], edges: ['start > agent'] }))
  expect((await send(executeOf(id), headers)).status).toBe(200)
  const spans = (await spansOf(traceId, 8)).filter(({ name }) => name === 'chat small')
  expect(spans.map(({ attributes }) => attributes['server.port'])).toEqual(
    Array(2).fill(Number(new URL(models.url).port)),
  )
  expect(models.requests.map((request) => request.headers['traceparent'])).toEqual(
    spans.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
  )
})

test('a call of a tool of an MCP server carries the span of its block', async () => {
  const { traceId, headers } = caller()
  await using server = await SdkServer.start()
  const ask = block('ask', 'mcp', { server: server.url, tool: 'add', arguments: { a: 1, b: 2 } })
  const id = await deployed(document({ name: 'Adds', blocks: [start, ask], edges: ['start > ask'] }))
  expect((await send(executeOf(id), headers)).status).toBe(200)
  const span = (await spansOf(traceId, 3)).find(({ name }) => name === 'ask')
  const called = server.messages.find(({ method }) => method === 'tools/call')
  expect(called?.traceparent).toBe(`00-${traceId}-${span?.spanId}-01`)
})

test('when the caller does not sample, nothing is exported, and requests pass the flag on', async () => {
  const { traceId, headers } = caller('00')
  const id = await deployed(
    document({
      name: 'Quiet',
      blocks: [start, block('request', 'api', { method: 'GET', url: `${receiver.url}/quiet` })],
      edges: ['start > request'],
    }),
  )
  expect((await send(executeOf(id), headers)).status).toBe(200)
  expect(await headerAt('/quiet')).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  // Spans are exported in order, so a later run proves that nothing of this one follows.
  const later = caller()
  expect((await send(executeOf(id), later.headers)).status).toBe(200)
  await spansOf(later.traceId, 3)
  expect(collector.spans.some((span) => span.traceId === traceId)).toBeFalse()
})

test('a traceparent that the author writes is sent as it is, and an invalid one of a caller is ignored', async () => {
  const own = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
  const params = { method: 'GET', url: `${receiver.url}/own`, headers: [{ key: 'Traceparent', value: own }] }
  const id = await deployed(
    document({ name: 'Own', blocks: [start, block('request', 'api', params)], edges: ['start > request'] }),
  )
  const response = await send(executeOf(id), { 'x-api-key': apiKey, traceparent: 'nonsense' })
  const { executionId } = (await response.json()) as { executionId: string }
  expect(await headerAt('/own')).toBe(own)
  const [root] = await spansOf(executionId.replaceAll('-', ''), 3)
  expect(root?.parentSpanId).toBeUndefined()
})

/** The first log line about a run. */
async function lineOf(executionId: string): Promise<unknown> {
  for (;;) {
    const line = service
      .errors()
      .split('\n')
      .find((each) => each.includes(`"executionId":"${executionId}"`))
    if (line !== undefined) return JSON.parse(line)
    await Bun.sleep(5)
  }
}

test.each(['sync', 'async'])('log lines about a %s run name the trace that it joined', async (mode) => {
  const { traceId, headers } = caller()
  const id = await deployed(document({ name: `Logged ${mode}`, blocks: [start] }))
  const response = await send(executeOf(id), { ...headers, 'x-execution-mode': mode })
  const { executionId } = (await response.json()) as { executionId: string }
  const root = (await spansOf(traceId, 2)).find(({ name }) => name === `Logged ${mode}`)
  expect(await lineOf(executionId)).toMatchObject({ trace_id: traceId, span_id: root?.spanId, trace_flags: '01' })
})

test.each(['01', '00'])('the log entry of a run names its trace if the trace is exported: flags %s', async (flags) => {
  const { traceId, headers } = caller(flags)
  const id = await deployed(document({ name: `Entry ${flags}`, blocks: [start] }))
  const response = await send(executeOf(id), headers)
  const { executionId } = (await response.json()) as { executionId: string }
  const page = `${service.url}/api/v1/logs?workspaceId=${workspaceId}&executionId=${executionId}`
  const { body } = await call(`${page}&details=full&includeTraceSpans=true`, apiKey)
  const { data } = body as { data: { traceSpans: { traceId?: string; children: object[] }[] }[] }
  const [root] = data[0]!.traceSpans
  expect(root?.traceId).toBe(flags === '01' ? traceId : undefined)
  expect(root?.children[0]).not.toHaveProperty('traceId')
})

test('a log line about a run without a caller names its own trace', async () => {
  const id = await deployed(document({ name: 'Alone', blocks: [start] }))
  const response = await send(executeOf(id), { 'x-api-key': apiKey })
  const { executionId } = (await response.json()) as { executionId: string }
  const traceId = executionId.replaceAll('-', '')
  const root = (await spansOf(traceId, 2)).find(({ name }) => name === 'Alone')
  expect(await lineOf(executionId)).toMatchObject({ trace_id: traceId, span_id: root?.spanId, trace_flags: '01' })
})

test('the collector found every message valid', () => {
  expect(collector.requests.length).toBeGreaterThan(0)
  expect(collector.faults).toEqual([])
})
