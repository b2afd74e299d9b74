import { afterAll, describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../support/models/model-server.ts'
import { hanging, httpPeer, outboundOf } from '../../support/outbound/peers.ts'
import { spansOf, World } from '../engine/world.ts'

const outbound = outboundOf(['loopback'])
const answerer = document({
  name: 'Answerer',
  blocks: [
    block('in', 'api_trigger', {
      inputFormat: [{ name: 'city', type: 'string', required: true, description: 'Where' }],
    }),
    block('out', 'function', { code: 'if (<api.city> === "Nowhere") throw new Error("no such city"); return 21' }),
  ],
  edges: ['in > out'],
})
const world = new World({
  fetch: outbound.fetch,
  open: outbound.open,
  deployed: { answerer },
  environment: { KEY: 'secret-key' },
  prices: { m: { input: 1, output: 2, cachedInput: 0.5 } },
})
afterAll(async () => {
  outbound.stop()
  await world.stop()
})

function asking(server: { url: string }, params: Record<string, unknown> = {}): WorkflowDocument {
  return document({
    blocks: [
      block('in', 'api_trigger'),
      block('ask', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: '{{KEY}}' },
        ...{ systemPrompt: 'Be brief.', userPrompt: 'Say <api.input.word>', retries: 0, ...params },
      }),
    ],
    edges: ['in > ask'],
  })
}

async function ask(script: readonly ScriptedResponse[], { params }: { params?: Record<string, unknown> } = {}) {
  const { promise: hasArrived, resolve: arrived } = Promise.withResolvers<void>()
  await using server = await ModelServer.start(script.map((answer) => ({ ...answer, hasArrived })))
  const chunks: string[] = []
  const observer = {
    chunk(_: unknown, text: string) {
      chunks.push(text)
      arrived()
    },
  }
  const { record } = await world.run(asking(server, params), { word: 'hello' }, { observer })
  const spans = spansOf(record.root)
  const output = spans.get('ask')?.[0]?.output as Record<string, unknown>
  return { record, output, chunks, spans, requests: server.requests }
}

describe('a response', () => {
  for (const provider of ['openai', 'openai-compatible', 'anthropic', 'google']) {
    test(`of ${provider} is streamed, counted and shown`, async () => {
      const script = [{ text: ['Hel', 'lo'], usage: { prompt: 100, cached: 40, completion: 10 } }]
      const { record, output, chunks, spans, requests } = await ask(script, { params: { provider } })
      expect(record.failure).toBeNull()
      expect(chunks).toEqual(['Hel', 'lo'])
      const cost = { input: 0.00008, output: 0.00002, total: 0.0001 }
      const tokens = { prompt: 100, completion: 10, total: 110 }
      expect(output).toEqual({ content: 'Hello', model: 'm', tokens, toolCalls: [], cost, error: null })
      expect(record.cost).toEqual({ total: 0.0001, tokens, models: { m: { ...cost, tokens } } })
      const [span] = spans.get('m') ?? []
      expect(span).toMatchObject({ type: 'model', usage: { model: 'm', tokens, cost }, attempts: [{ number: 1 }] })
      expect(span?.usage?.timeToFirstTokenMs).toBeGreaterThan(0)
      expect(JSON.stringify(requests[0]?.headers)).toContain('secret-key')
      expect(JSON.stringify(requests[0]?.body)).toContain('Be brief.')
      expect(JSON.stringify(requests[0]?.body)).toContain('Say hello')
      expect(JSON.stringify(record.root)).not.toContain('secret-key')
    })
  }

  test('passes messages, temperature and output limit to the model', async () => {
    const messages = [
      { role: 'user', content: 'Earlier' },
      { role: 'assistant', content: 'Yes?' },
    ]
    const { requests } = await ask([{ text: ['x'] }], { params: { messages, temperature: 0.25, maxTokens: 7 } })
    expect(requests[0]?.body).toMatchObject({ temperature: 0.25, max_tokens: 7, model: 'm', stream: true })
    expect((requests[0]!.body['messages'] as { role: string }[]).map(({ role }) => role)).toEqual([
      ...['system', 'user', 'assistant', 'user'],
    ])
  })

  test('without usage costs nothing and is marked; so is a model without a price', async () => {
    const silent = await ask([{ text: ['x'], usage: null }])
    expect(silent.spans.get('m')?.[0]?.usage).toMatchObject({ tokensUnknown: true, tokens: { total: 0 } })
    expect(Object.keys(silent.record.cost.models)).toEqual(['m'])
    const priceless = await ask([{ text: ['x'] }], { params: { model: 'llama' } })
    expect(priceless.spans.get('llama')?.[0]?.usage).toMatchObject({ costUnknown: true, tokens: { total: 2 } })
    expect(priceless.record.cost).toMatchObject({ total: 0, tokens: { total: 2 } })
  })
})

describe('when the model fails', () => {
  test('400 is not retried, and the error names the host and its message', async () => {
    const { record, requests } = await ask([{ status: 400 }], { params: { retries: 3 } })
    expect(requests.length).toBe(1)
    expect(record.failure?.message).toMatch(/^127\.0\.0\.1:\d+ responded with 400: stand-in says 400/)
  })

  for (const trouble of ['break', 'end', 'garbage'] as const) {
    test(`a stream that fails (${trouble}) after a chunk is not retried`, async () => {
      const { record, chunks, requests } = await ask([{ text: ['par'], trouble }], { params: { retries: 3 } })
      expect(record.failure?.code).toBe('EXECUTION_FAILED')
      expect({ chunks, requests: requests.length }).toEqual({ chunks: ['par'], requests: 1 })
    })
  }

  test('the prompt tokens of an interrupted response are counted if the provider reports them first', async () => {
    const script = [{ text: ['par'], trouble: 'break' as const, usage: { prompt: 50, cached: 10, completion: 9 } }]
    const { record } = await ask(script, { params: { provider: 'anthropic' } })
    expect(record.failure).not.toBeNull()
    expect(record.cost).toMatchObject({ total: 0.000045, tokens: { prompt: 50, completion: 0 } })
  })

  test('a refused address names the setting, and a refusal has the message of the model', async () => {
    const closed = outboundOf([])
    const strict = new World({ open: closed.open, environment: { KEY: 'k' } })
    const { record } = await strict.run(asking({ url: 'http://127.0.0.1:9/v1' }))
    expect(record.failure?.message).toContain('MILLRACE_OUTBOUND_ALLOW')
    closed.stop()
    await strict.stop()
    const refused = await ask([{ refusal: 'I will not.' }], { params: { onError: 'continue' } })
    expect(refused.output['error']).toMatchObject({ code: 'REFUSED', message: expect.stringContaining('I will not.') })
  })

  test('a cancelled run ends the request', async () => {
    using peer = await hanging()
    const leaving = new AbortController()
    const running = world.run(asking({ url: `${peer.url}v1` }), {}, { callerSignal: () => leaving.signal })
    while (peer.open === 0) await new Promise((resolve) => setImmediate(resolve))
    leaving.abort()
    const { record } = await running
    expect(record.failure?.code).toBe('CLIENT_CLOSED')
    while (peer.open > 0) await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('structured output', () => {
  const responseFormat = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }

  // Anthropic's newer models return it as text, others as a tool call.
  for (const each of ['openai', 'openai-compatible', 'google', 'anthropic claude-sonnet-4-5', 'anthropic other']) {
    test(`that fits is the parsed value (${each})`, async () => {
      const [provider, model = 'm'] = each.split(' ')
      const call = { id: 'c1', name: 'json', arguments: '{"n":3}' }
      const answer = model === 'other' ? { toolCalls: [call] } : { text: ['{"n":', ' 3}'] }
      const { output, requests } = await ask([answer], { params: { provider, model, responseFormat } })
      expect([output['content'], output['toolCalls']]).toEqual([{ n: 3 }, []])
      expect(JSON.stringify(requests[0]?.body)).toContain('"integer"')
    })
  }

  test('in a code fence is read', async () => {
    const { output } = await ask([{ text: ['```json\n{"n":4}\n```'] }], { params: { responseFormat } })
    expect(output['content']).toEqual({ n: 4 })
  })

  for (const [text, reason] of [
    ['{"n":"three"}', 'n: '],
    ['three', 'not JSON'],
  ] as const) {
    test(`that does not fit fails the block with the reason: ${text}`, async () => {
      const { output, record } = await ask([{ text: [text] }], { params: { responseFormat, onError: 'continue' } })
      expect(output['content']).toBeNull()
      expect(output['error']).toMatchObject({ code: 'INVALID_OUTPUT', message: expect.stringContaining(reason) })
      expect(record.cost.tokens.total).toBe(2)
    })
  }
})

describe('tools', () => {
  const called = (name: string, args: object, id = 'call1') => ({
    toolCalls: [{ id, name, arguments: JSON.stringify(args) }],
    usage: { prompt: 10, completion: 5 },
  })
  const weather = { type: 'workflow', workflowId: 'answerer', name: 'weather', description: 'Degrees' }

  for (const provider of ['openai', 'anthropic', 'google']) {
    test(`a workflow is called with its input format, and the model receives its result (${provider})`, async () => {
      const script = [
        called('weather', { city: 'Oslo' }),
        { text: ['21 degrees'], usage: { prompt: 20, completion: 5 } },
      ]
      const { output, spans, requests, record } = await ask(script, { params: { provider, tools: [weather] } })
      expect(record.failure).toBeNull()
      expect(output).toMatchObject({
        content: '21 degrees',
        tokens: { prompt: 30, completion: 10, total: 40 },
        toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' }, result: { result: 21 } }],
      })
      expect(record.cost.total).toBe(0.00005)
      expect(JSON.stringify(requests[0]?.body)).toContain('"description":"Where"')
      expect(JSON.stringify(requests[1]?.body)).toContain('21')
      const [tool] = spans.get('weather') ?? []
      expect(tool).toMatchObject({ type: 'tool', status: 'success', input: { city: 'Oslo' } })
      expect(tool?.children[0]?.children.map(({ name }) => name)).toEqual(['in', 'out'])
    })
  }

  test('the model receives the error of a failed tool', async () => {
    const script = [
      called('weather', { city: 'Nowhere' }),
      called('weather', {}),
      called('gone', {}),
      { toolCalls: [{ id: 'call4', name: 'weather', arguments: '['.repeat(50_000) + ']'.repeat(50_000) }] },
      { text: ['Sorry'] },
    ]
    const { output, requests, spans } = await ask(script, { params: { tools: [weather] } })
    expect(output['content']).toBe('Sorry')
    const last = JSON.stringify(requests[4]?.body)
    for (const words of ['no such city', 'is required', 'no tool', 'deeper than 200']) expect(last).toContain(words)
    expect(spans.get('weather')?.[0]).toMatchObject({ status: 'error', error: { code: 'EXECUTION_FAILED' } })
  })

  test('the arguments of a request tool are values and cannot change its structure', async () => {
    const seen: string[] = []
    const peer = httpPeer(async (request, url) => {
      seen.push(url.pathname + url.search + (await request.text()))
      return Response.json({ found: 1 })
    })
    const tools = [
      {
        type: 'api',
        name: 'find',
        parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
        params: {
          url: `http://127.0.0.1:${peer.port}/:q`,
          method: 'POST',
          pathParams: { q: '<args.q>' },
          body: '{"q":"<args.q>","word":"<api.input.word>"}',
        },
      },
    ]
    const q = '"},../<args.q>?x'
    const { output, requests } = await ask([called('find', { q }), called('find', { q: 1 }), { text: ['ok'] }], {
      params: { tools },
    })
    expect(output).toMatchObject({ content: 'ok', toolCalls: [{ result: { found: 1 } }, { result: { error: {} } }] })
    expect(seen).toEqual([`/${encodeURIComponent(q)}${JSON.stringify({ q, word: 'hello' })}`])
    expect(JSON.stringify(requests[2]?.body)).toContain('do not fit')
    await peer.stop(true)
  })

  test('the number of steps is limited', async () => {
    const { output, requests } = await ask([called('weather', { city: 'Oslo' })], {
      params: { tools: [weather], maxSteps: 3, onError: 'continue' },
    })
    expect(requests.length).toBe(3)
    expect(output['error']).toMatchObject({ code: 'MAX_STEPS_REACHED' })
  })
})

describe('the check at deployment', () => {
  const findings = (params: Record<string, unknown>) =>
    world
      .check(asking({ url: 'http://x/v1' }, params))
      .map(({ level, code, path }) => `${level} ${code} ${path.replace('blocks.ask.params.', '')}`)

  test('reports errors in the parameters, and warns of unknown prices', () => {
    expect(findings({ model: 'gpt-4o' })).toEqual([])
    expect(findings({ model: 'unheard-of' })).toEqual(['warning UNKNOWN_PRICE model'])
    expect(findings({ model: 'gpt-4o', baseUrl: '' })).toEqual(['error MISSING_PARAMETER baseUrl'])
    expect(findings({ model: 'gpt-4o', provider: 'openai', apiKey: '' })).toEqual(['error MISSING_PARAMETER apiKey'])
    const api = { type: 'api', name: 'a', params: { url: 'no address' } }
    expect(
      findings({ model: 'gpt-4o', tools: [api, { ...api, params: undefined }, { type: 'workflow', name: 'b' }] }),
    ).toEqual(
      expect.arrayContaining([
        'error INVALID_URL tools.0.params.url',
        'error MISSING_PARAMETER tools.1.params',
        'error DUPLICATE_ID tools.1.name',
        'error MISSING_PARAMETER tools.2.workflowId',
      ]),
    )
  })
})
