import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mcp } from '../../../src/blocks/mcp.ts'
import type { FileObject } from '../../../src/domain/run/file.ts'
import { rogueServer } from '../../support/mcp-rogue.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { httpPeer } from '../../support/outbound/peers.ts'
import { makeContext, runBlock } from './context.ts'

let server: SdkServer
beforeAll(async () => {
  server = await SdkServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const call = async (params: Record<string, unknown>, context = makeContext()) => {
  using used = context
  return await runBlock(mcp, { server: server.url, ...params }, used)
}

describe('the MCP block', () => {
  test('outputs the text and the structured result of a tool', async () => {
    const { outputs } = await call({ tool: 'add', arguments: { a: 2, b: 3 } })
    expect(outputs).toEqual({
      content: [{ type: 'text', text: '5' }],
      structured: { sum: 5 },
      isError: false,
      error: null,
    })
  })

  test('outputs binary content as files', async () => {
    using context = makeContext()
    const { outputs } = await runBlock(mcp, { server: server.url, tool: 'draw' }, context)
    const [said, image, notes] = outputs['content'] as (Record<string, unknown> & { file?: FileObject })[]
    expect(said).toEqual({ type: 'text', text: 'Here it is' })
    expect(image).toMatchObject({
      type: 'image',
      mimeType: 'image/png',
      file: { name: 'image.png', type: 'image/png' },
    })
    expect(image).not.toHaveProperty('data')
    expect(notes!.file).toMatchObject({ name: 'today.csv', size: 3 })
    expect(await (await context.files.read(notes!.file!.url))!.text()).toBe('a,b')
  })

  test('fails with the error of the tool', async () => {
    const { outputs, error } = await call({ tool: 'break' })
    expect(error).toEqual({ code: 'TOOL_ERROR', message: 'The tool "break" failed: It is broken' })
    expect(outputs).toMatchObject({ isError: true, content: [{ text: 'It is broken' }] })
  })

  test('says which tool the server does not have', async () => {
    const { error } = await call({ tool: 'nothing' })
    expect(error!.message).toContain('nothing')
  })

  test('gives up after its timeout, says how far the tool got, and cancels the call', async () => {
    const before = server.cancelled.length
    using context = makeContext()
    const { error } = await runBlock(mcp, { server: server.url, tool: 'wait', timeoutMs: 1_000 }, context)
    expect(error!.code).toBe('TIMEOUT')
    expect(error!.message).toContain('last progress: 3 of 10, half asleep')
    while (server.cancelled.length === before) await Bun.sleep(5)
    expect(server.cancelled.at(-1)).toBe('timeout')
  })

  test('cancels the call when its run is cancelled', async () => {
    const before = server.cancelled.length
    const controller = new AbortController()
    using context = makeContext({ signal: controller.signal })
    const ended = runBlock(mcp, { server: server.url, tool: 'wait' }, context)
    const calls = server.count('tools/call')
    while (server.count('tools/call') === calls) await Bun.sleep(5)
    controller.abort()
    expect((await ended).error!.code).toBe('CANCELLED')
    while (server.cancelled.length === before) await Bun.sleep(5)
  })

  test('uses one session for several calls, and a new one when the server has ended it', async () => {
    using context = makeContext()
    const add = () => runBlock(mcp, { server: server.url, tool: 'add', arguments: { a: 1, b: 1 } }, context)
    const before = server.count('initialize')
    await add()
    await add()
    expect(server.count('initialize')).toBe(before + 1)
    await server.forget()
    expect((await add()).outputs).toMatchObject({ structured: { sum: 2 } })
    expect(server.count('initialize')).toBe(before + 2)
  })

  test('keeps calls apart that share a session at the same time', async () => {
    const ids: unknown[] = []
    const both = Promise.withResolvers<void>()
    await using peer = rogueServer(async ({ id, params }) => {
      ids.push(id)
      if (ids.length === 2) both.resolve()
      // The first call opens the session. The next two overlap.
      if (params['name'] !== 'first') await both.promise
      return { id, result: { content: [{ type: 'text', text: params['name'] }] } }
    })
    using context = makeContext()
    const said = async (tool: string) => (await runBlock(mcp, { server: peer.url, tool }, context)).outputs['content']
    await said('first')
    ids.length = 0
    const part = (text: string) => [{ type: 'text', text }]
    expect(await Promise.all([said('a'), said('b')])).toEqual([part('a'), part('b')])
    expect(new Set(ids).size).toBe(2)
  })

  test('reaches servers that know only the transport of 2024', async () => {
    await using old = await SdkServer.start('sse')
    using context = makeContext()
    const add = (b: number) => runBlock(mcp, { server: old.url, tool: 'add', arguments: { a: 1, b } }, context)
    expect((await add(1)).outputs).toMatchObject({ structured: { sum: 2 } })
    expect((await add(2)).outputs).toMatchObject({ structured: { sum: 3 } })
    const { error } = await runBlock(mcp, { server: old.url, tool: 'wait', timeoutMs: 300 }, context)
    expect(error!.code).toBe('TIMEOUT')
  })

  test('says that the credential is wrong', async () => {
    await using closed = await SdkServer.start('streamable', 'secret')
    using context = makeContext()
    const { error } = await runBlock(mcp, { server: closed.url, tool: 'add' }, context)
    expect(error!.code).toBe('HTTP_ERROR')
    expect(error!.message).toContain('returned the status 401. Check the credential: none is chosen. It said: Sign in')
  })
})

describe('the list of tools', () => {
  test('is read again when the server says that it has changed', async () => {
    using context = makeContext()
    const reached = context.mcp(server.url, '')
    const names = async () => (await reached.tools({ timeoutMs: 5_000 })).map(({ name }) => name)
    const before = server.count('tools/list')
    expect(await names()).toContain('add')
    expect(await names()).not.toContain('fresh')
    expect(server.count('tools/list')).toBe(before + 1)
    await reached.call({ tool: 'grow', arguments: {}, timeoutMs: 5_000 })
    expect(await names()).toContain('fresh')
  })
})

describe('a server that does not behave', () => {
  const respond = (body: unknown, type = 'application/json') =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { headers: { 'content-type': type } })
  const initialized = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
  type Message = { id?: number; method: string }
  /** A server whose responses to everything but `initialize` are `answer`. */
  const rogue = (answer: (message: Message) => Response) =>
    httpPeer(async (request) => {
      const message = (await request.json().catch(() => ({ method: 'GET' }))) as Message
      if (message.method === 'initialize') return respond({ jsonrpc: '2.0', id: message.id, result: initialized })
      if (message.id === undefined) return new Response(null, { status: 202 })
      return answer(message)
    })

  const cases: Record<string, { answer: (message: Message) => Response; says: string | RegExp }> = {
    'that responds to another request': {
      answer: () => respond({ jsonrpc: '2.0', id: 999, result: {} }),
      says: 'responded to another request',
    },
    'that sends no JSON': { answer: () => respond('<html>'), says: 'it is not JSON' },
    'that sends a list instead of a message': { answer: () => respond('[[]]'), says: 'not a JSON-RPC message' },
    'that sends JSON which is too deep': {
      answer: () => respond(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
      says: 'nested deeper',
    },
    'that refuses the request': {
      answer: ({ id }) => respond({ jsonrpc: '2.0', id, error: { code: -32_602, message: 'No such tool' } }),
      says: 'refused the request: No such tool (code -32602)',
    },
    'whose result has no list of parts': {
      answer: ({ id }) => respond({ jsonrpc: '2.0', id, result: { content: 'text' } }),
      says: 'not a list of parts',
    },
    'that ends its stream without a result': {
      answer: () => respond(': nothing\n\n', 'text/event-stream'),
      says: 'ended its response without a result',
    },
    'that sends more than the limit': {
      answer: () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new TextEncoder().encode(': x\n'.repeat(50_000))),
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
      says: 'larger than',
    },
    'that redirects': {
      answer: () => new Response(null, { status: 307, headers: { location: 'http://169.254.169.254/' } }),
      says: 'It redirects, which MCP does not allow',
    },
  }
  for (const [title, { answer, says }] of Object.entries(cases)) {
    test(`${title} fails the block with a clear error`, async () => {
      const peer = rogue(answer)
      try {
        const { error } = await call({ server: `http://127.0.0.1:${peer.port}/`, tool: 'x' })
        expect(error!.message).toContain(says as string)
      } finally {
        await peer.stop(true)
      }
    }, 30_000)
  }

  test('gets no more than its budget of tools', async () => {
    let page = 0
    const peer = rogue(({ id }) => {
      page += 1
      const tools = Array.from({ length: 100 }, (_, at) => ({
        name: `t${page}-${at}`,
        inputSchema: { type: 'object' },
      }))
      return respond({ jsonrpc: '2.0', id, result: { tools, nextCursor: `${page}` } })
    })
    try {
      using context = makeContext()
      const listing = context.mcp(`http://127.0.0.1:${peer.port}/`, '').tools({ timeoutMs: 10_000 })
      expect(listing).rejects.toThrow('more than 500 tools')
      await listing.catch(() => undefined)
      expect(page).toBeLessThan(10)
    } finally {
      await peer.stop(true)
    }
  }, 30_000)

  test('cannot keep a block longer than its timeout', async () => {
    const peer = rogue(
      () =>
        new Response(new ReadableStream({ start: () => undefined }), {
          headers: { 'content-type': 'text/event-stream' },
        }),
    )
    try {
      const { error } = await call({ server: `http://127.0.0.1:${peer.port}/`, tool: 'x', timeoutMs: 200 })
      expect(error!.code).toBe('TIMEOUT')
    } finally {
      await peer.stop(true)
    }
  }, 30_000)
})
