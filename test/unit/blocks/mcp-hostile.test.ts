import { expect, test } from 'bun:test'
import { mcp } from '../../../src/blocks/mcp.ts'
import { eventStream, resultEvent, rogueServer } from '../../support/mcp-rogue.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { httpPeer, outboundOf } from '../../support/outbound/peers.ts'
import { makeContext, runBlock } from './context.ts'

type Answer = Parameters<typeof rogueServer>[0]

/** Calls a tool of a server that answers like this. */
async function callOf(answer: Answer, params: Record<string, unknown> = {}) {
  await using server = rogueServer(answer)
  using context = makeContext()
  const { outputs, error } = await runBlock(
    mcp,
    { server: server.url, tool: 'any', timeoutMs: 5_000, ...params },
    context,
  )
  return { outputs, error, requests: [...server.requests] }
}

test('an endless line ends at the limit for responses', async () => {
  const { error } = await callOf(() => eventStream(['x'.repeat(200_000)], 'repeat'), { timeoutMs: 30_000 })
  expect(error).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
}, 30_000)

test('a stream of notifications without end ends at the limit for responses', async () => {
  const said = 'x'.repeat(200_000)
  const spam = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${said}"}}\n\n`
  const { error } = await callOf(() => eventStream([spam], 'repeat'), { timeoutMs: 30_000 })
  expect(error).toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
}, 30_000)

test('responses with unknown IDs are ignored', async () => {
  const strange = [1, 'x', null, '2', 2.5, true].map((id) => resultEvent(id))
  expect((await callOf(() => eventStream(strange))).error).toMatchObject({
    ...{ code: 'INVALID_RESPONSE', message: expect.stringContaining('ended its response without a result') },
  })
})

test('the first of two responses with one ID counts', async () => {
  const said = ['first', 'second'].map((text) => ({ content: [{ type: 'text', text }] }))
  const { outputs } = await callOf(({ id }) => eventStream(said.map((result) => resultEvent(id, result))))
  expect(outputs).toMatchObject({ content: [{ text: 'first' }], error: null })
})

test('a server that asks without end gets a limited number of replies', async () => {
  let replies = 0
  const twenty = Promise.withResolvers<void>()
  const asks = Array.from({ length: 500 }, (_, id) => `data: {"jsonrpc":"2.0","id":"s${id}","method":"ping"}\n\n`)
  await using server = rogueServer(({ id }) => eventStream([...asks, twenty.promise.then(() => resultEvent(id))]))
  server.onReply(() => {
    replies += 1
    if (replies === 20) twenty.resolve()
  })
  using context = makeContext()
  const { error } = await runBlock(mcp, { server: server.url, tool: 'any', timeoutMs: 10_000 }, context)
  expect(error).toBeUndefined()
  expect(replies).toBe(20)
})

test('a result with more files or parts than the limit fails, and stores none of them', async () => {
  let stored = 0
  await using server = rogueServer(({ id, params }) => {
    const { files } = params['arguments'] as { files: boolean }
    const part = files ? { type: 'image', data: 'AAAA', mimeType: 'image/png' } : { type: 'text', text: '' }
    return { id, result: { content: Array.from({ length: files ? 101 : 1_001 }, () => part) } }
  })
  const files = {
    store: () => {
      stored += 1
      return Promise.reject(new Error('No file may be stored'))
    },
    read: () => Promise.resolve(undefined),
    open: () => Promise.resolve(undefined),
    hold: () => Promise.reject(new Error('No file may be stored')),
    drafts: () => Promise.reject(new Error('No file may be stored')),
    restore: () => undefined,
  }
  using context = makeContext({ files })
  for (const [given, message] of [
    [{ files: true }, 'has 101 files. At most 100'],
    [{ files: false }, 'has 1001 parts. At most 1000'],
  ] as const) {
    const { error } = await runBlock(mcp, { server: server.url, tool: 'any', arguments: given }, context)
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', message: expect.stringContaining(message) })
  }
  expect(stored).toBe(0)
})

test('a client gives up on a server that forgets each session at once', async () => {
  const { error, requests } = await callOf(() => new Response(null, { status: 404 }))
  expect(error).toMatchObject({ code: 'HTTP_ERROR' })
  expect(requests.filter(({ message }) => message?.method === 'tools/call').length).toBeLessThanOrEqual(2)
})

test('a client resumes a stream that ended early, a limited number of times', async () => {
  const seen: (string | null)[] = []
  const continued = await callOf(({ method }, request) => {
    if (method === 'tools/call') return eventStream(['id: e1\nretry: 1\ndata: \n\n'])
    seen.push(request.headers.get('last-event-id'))
    return eventStream([`id: e2\n${resultEvent(2)}`])
  })
  expect(continued.error).toBeUndefined()
  expect(seen).toEqual(['e1'])
  const { error, requests } = await callOf(() => eventStream(['id: e1\nretry: 1\ndata: \n\n']))
  expect(error).toMatchObject({ code: 'INVALID_RESPONSE' })
  expect(requests.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(5)
})

test('a run that is cancelled while it waits to continue a stream ends at once', async () => {
  const controller = new AbortController()
  await using server = rogueServer(() => {
    setTimeout(() => controller.abort(), 50)
    return eventStream(['id: e1\nretry: 9000\ndata: \n\n'])
  })
  using context = makeContext({ signal: controller.signal })
  const { error } = await runBlock(mcp, { server: server.url, tool: 'any' }, context)
  expect(error).toMatchObject({ code: 'CANCELLED' })
})

test('the older transport does not send messages to another origin', async () => {
  const elsewhere: string[] = []
  const other = httpPeer((request) => {
    elsewhere.push(request.url)
    return new Response()
  })
  const peer = httpPeer((request) => {
    if (request.method === 'POST') return new Response(null, { status: 405 })
    return eventStream([`event: endpoint\ndata: http://127.0.0.1:${other.port}/messages\n\n`], 'hang')
  })
  using context = makeContext()
  const { error } = await runBlock(mcp, { server: `http://127.0.0.1:${peer.port}/mcp`, tool: 'any' }, context)
  expect(error).toMatchObject({ code: expect.any(String) })
  expect(elsewhere).toEqual([])
  await Promise.all([peer.stop(true), other.stop(true)])
})

test('calls over the older transport do not wait for one another when all slots are taken', async () => {
  await using server = await SdkServer.start('sse')
  using outbound = outboundOf(['loopback'], { concurrency: { total: 2, perOrigin: 2 } })
  using context = makeContext({}, outbound)
  const add = (b: number) =>
    runBlock(mcp, { server: server.url, tool: 'add', arguments: { a: 1, b }, timeoutMs: 10_000 }, context)
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map(add))
  expect(results.map(({ outputs }) => outputs['structured'])).toEqual([2, 3, 4, 5, 6, 7].map((sum) => ({ sum })))
}, 30_000)
