import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createParser } from 'eventsource-parser'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
/** Responds to `/slow/…` when it is told to, and to everything else at once. */
let upstream: ReturnType<typeof Bun.serve>
const held: { path: string; signal: AbortSignal; answer: () => void }[] = []
let arrival = Promise.withResolvers<void>()

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const path = new URL(request.url).pathname
      if (!path.startsWith('/slow')) return Response.json({ path })
      return new Promise<Response>((resolve) => {
        held.push({ path, signal: request.signal, answer: () => resolve(Response.json({ path })) })
        arrival.resolve()
        arrival = Promise.withResolvers()
      })
    },
  })
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'stream-buffer-bytes': '65536' })
})
afterAll(async () => {
  await world.close()
  await upstream.stop(true)
})

async function request(path: string) {
  for (;;) {
    const index = held.findIndex((each) => each.path === path)
    if (index >= 0) return held.splice(index, 1)[0]!
    await arrival.promise
  }
}

type Message = { blockId?: string; chunk?: string; event?: string; [more: string]: unknown }

/** Reads a stream with a third-party parser, and records each message as it arrives. */
async function open(id: string, body: object, signal?: AbortSignal) {
  const response = await fetch(`${world.url}/api/workflows/${id}/execute`, {
    method: 'POST',
    headers: { 'x-api-key': world.apiKey },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  const messages: (Message | '[DONE]')[] = []
  const comments: string[] = []
  let more = Promise.withResolvers<void>()
  let isOver = false
  const parser = createParser({
    onEvent: ({ data }) => messages.push(data === '[DONE]' ? data : (JSON.parse(data) as Message)),
    onComment: (comment) => comments.push(comment),
  })
  const reading = (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body!) {
        parser.feed(decoder.decode(chunk, { stream: true }))
        more.resolve()
        more = Promise.withResolvers()
      }
    } catch {
      // The stream broke off: the messages received so far count.
    }
    isOver = true
    more.resolve()
  })()
  return {
    response,
    messages,
    comments,
    async first(count: number) {
      while (messages.length < count && !isOver) await more.promise
      return messages.slice(0, count)
    },
    async all() {
      await reading
      return messages
    },
  }
}

const api = (id: string, path: string, more = {}) =>
  block(id, 'api', { url: `http://127.0.0.1:${upstream.port}${path}`, retries: 0, ...more })

/** Two parallel branches. One waits for the upstream. */
const forked = () =>
  document({
    name: 'Forked',
    blocks: [start(), { ...api('fast', '/fast'), name: 'Fast One' }, api('slow', '/slow/a'), api('last', '/last')],
    edges: ['start > fast', 'start > slow', 'slow > last'],
  })

describe('a streamed run', () => {
  test('sends each selected value when its block has ended, then done, then the terminator', async () => {
    const id = await world.deploy(forked())
    const selectedOutputs = ['FASTone.data.path', 'fast one.status', 'slow.data', 'last.data.nothing']
    const stream = await open(id, { stream: true, selectedOutputs })
    expect(stream.response.status).toBe(200)
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    expect(await stream.first(2)).toEqual([
      { blockId: 'fast', chunk: '/fast' },
      { blockId: 'fast', chunk: '200' },
    ])
    expect(stream.comments).toEqual(['open'])
    ;(await request('/slow/a')).answer()
    const messages = await stream.all()
    expect(messages.slice(2)).toEqual([
      { blockId: 'slow', chunk: '{"path":"/slow/a"}' },
      {
        event: 'done',
        success: true,
        output: {
          'FASTone.data.path': '/fast',
          'fast one.status': 200,
          'slow.data': { path: '/slow/a' },
          'last.data.nothing': null,
        },
        metadata: { duration: expect.any(Number) },
      },
      '[DONE]',
    ])
    const executionId = stream.response.headers.get('x-execution-id')
    // The log entry is on disk before `done`.
    expect((await world.call(`/api/v1/logs/executions/${executionId}`)).status).toBe(200)
  })

  test("without selected outputs ends with the run's output", async () => {
    const id = await world.deploy(
      document({ blocks: [start(), block('f', 'function', { code: 'return 7' })], edges: ['start > f'] }),
    )
    for (const more of [{}, { selectedOutputs: [] }]) {
      expect(await (await open(id, { stream: true, ...more })).all()).toEqual([
        {
          event: 'done',
          success: true,
          output: { result: 7, stdout: '', error: null },
          metadata: { duration: expect.any(Number) },
        },
        '[DONE]',
      ])
    }
  })

  test('sends a value for each iteration, in order, and null for a block that did not run', async () => {
    const inner = { ...block('f', 'function', { code: 'return <parallel.index> * 10' }), parentId: 'par' }
    const id = await world.deploy(
      document({
        blocks: [
          start(),
          block('par', 'parallel'),
          inner,
          block('if', 'condition', { conditions: [{ id: 'yes', expression: 'false' }] }),
          block('never', 'function', { code: 'return 1' }),
        ],
        edges: [
          'start > par',
          'par:parallel-start-source > f',
          'par:parallel-end-source > if',
          'if:condition-yes > never',
        ],
        parallels: { par: { parallelType: 'count', count: 5 } },
      }),
    )
    const stream = await open(id, { stream: true, selectedOutputs: ['f.result', 'never.result'] })
    const messages = await stream.all()
    const chunks = messages.slice(0, -2).map((each) => (each as Message).chunk)
    expect(chunks.toSorted()).toEqual(['0', '10', '20', '30', '40'])
    expect(messages.at(-2)).toMatchObject({ output: { 'f.result': [0, 10, 20, 30, 40], 'never.result': null } })
  })

  test('that fails reports it in done; an error before the first block is an ordinary error response', async () => {
    const id = await world.deploy(
      document({
        blocks: [
          start([{ name: 'n', type: 'number' }]),
          block('f', 'function', { code: 'throw new Error("no luck")' }),
        ],
        edges: ['start > f'],
      }),
    )
    expect(await (await open(id, { stream: true })).all()).toEqual([
      {
        event: 'done',
        success: false,
        output: null,
        metadata: { duration: expect.any(Number) },
        error: expect.stringContaining('no luck'),
        code: 'EXECUTION_FAILED',
      },
      '[DONE]',
    ])
    for (const body of [
      { stream: true, n: 'x' },
      { stream: true, selectedOutputs: ['nothing.at.all', 'f'] },
      { stream: 'yes' },
      { stream: true, selectedOutputs: 'f.result' },
    ]) {
      const response = await world.execute(id, body)
      expect(response).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } })
      expect((response.json as { details: object[] }).details.length).toBeGreaterThan(0)
      expect(response.headers.get('content-type')).toContain('application/json')
    }
    const unknown = await world.execute(id, { selectedOutputs: ['nothing.x', 'f.result', 'f'] })
    expect(unknown.json).toMatchObject({ details: [{ path: 'selectedOutputs.0' }, { path: 'selectedOutputs.2' }] })
    expect(unknown.text).toContain('start, f')
  })

  test('sends several large values at once to a caller that reads', async () => {
    const code = 'return { large: "x".repeat(300_000), larger: "y".repeat(400_000), small: "z" }'
    const id = await world.deploy(
      document({ name: 'Large', blocks: [start(), block('f', 'function', { code })], edges: ['start > f'] }),
    )
    const selectedOutputs = ['f.result.large', 'f.result.larger', 'f.result.small']
    const messages = await (await open(id, { stream: true, selectedOutputs })).all()
    const sizes = messages.slice(0, 3).map((message) => (message as Message).chunk?.length)
    expect(sizes).toEqual([300_000, 400_000, 1])
    expect(messages.at(-1)).toBe('[DONE]')
  })

  test('is cancelled when its caller leaves, and so are its requests', async () => {
    const id = await world.deploy(
      document({ name: 'Left', blocks: [start(), api('slow', '/slow/left')], edges: ['start > slow'] }),
    )
    const abort = new AbortController()
    const stream = await open(id, { stream: true, selectedOutputs: ['slow.data'] }, abort.signal)
    const upstreamRequest = await request('/slow/left')
    const aborted = new Promise<void>((resolve) => upstreamRequest.signal.addEventListener('abort', () => resolve()))
    abort.abort()
    await aborted
    const executionId = stream.response.headers.get('x-execution-id')
    for (;;) {
      const { status, json } = await world.call(`/api/jobs/${executionId}`)
      const job = json as { status: string; error?: { code: string } }
      if (status === 200 && job.status !== 'processing') {
        expect(job).toMatchObject({ status: 'cancelled', error: { code: 'CLIENT_CLOSED' } })
        break
      }
      await Bun.sleep(2)
    }
  })

  test('continues when its caller does not read: the connection is closed, and memory stays bounded', async () => {
    // Each pass sends 200 kB; some fills the socket buffers, the rest has to wait.
    const id = await world.deploy(
      document({
        name: 'Unread',
        blocks: [
          start(),
          block('loop', 'loop'),
          { ...block('f', 'function', { code: 'return "x".repeat(200_000)' }), parentId: 'loop' },
        ],
        edges: ['start > loop', 'loop:loop-start-source > f'],
        loops: { loop: { loopType: 'for', iterations: 200 } },
      }),
    )
    const body = JSON.stringify({ stream: true, selectedOutputs: ['f.result'] })
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    socket.on('error', () => undefined)
    const head = await new Promise<string>((resolve) => {
      socket.once('data', (data) => {
        socket.pause()
        resolve(String(data))
      })
      socket.write(
        `POST /api/workflows/${id}/execute HTTP/1.1\r\nHost: x\r\nX-API-Key: ${world.apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
    })
    const executionId = /x-execution-id: (\S+)/i.exec(head)?.[1]
    for (;;) {
      const { json } = await world.call(`/api/jobs/${executionId}`)
      const job = json as { status: string }
      if (job.status !== 'processing') {
        expect(job.status).toBe('completed')
        break
      }
      await Bun.sleep(5)
    }
    socket.resume()
    await closed
  }, 120_000)
})
