import { afterAll, expect, test } from 'bun:test'
import type { Connector } from '../../../src/domain/connector/connector.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { httpPeer, outboundOf } from '../../support/outbound/peers.ts'
import { World } from '../engine/world.ts'

const outbound = outboundOf(['loopback'])
const seen: string[] = []
const peer = httpPeer(async (request) => {
  seen.push(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`)
  return Response.json({ ok: true, id: 7 })
})
const connector: Connector = {
  ...{ id: 'chat', name: 'Chat', baseUrl: `http://127.0.0.1:${peer.port}` },
  operations: {
    send: {
      ...{ label: 'Send a message', method: 'POST', path: '/{room}/messages', result: 'id' },
      parameters: {
        type: 'object',
        properties: {
          room: { type: 'string' },
          text: { type: 'string', description: 'The text' },
          kind: { type: 'string', const: 'plain' },
          tags: { type: 'array', items: { type: 'string' }, join: ',' },
        },
        required: ['room', 'text'],
      },
    },
  },
}
const world = new World({ fetch: outbound.fetch, open: outbound.open, connector })
afterAll(async () => {
  outbound.stop()
  await world.stop()
  await peer.stop(true)
})

async function ask(args: object, tool: object = {}) {
  const call = { id: 'c1', name: 'chat_send', arguments: JSON.stringify(args) }
  await using server = await ModelServer.start([{ toolCalls: [call] }, { text: ['Done'] }])
  const params = {
    ...{
      provider: 'openai-compatible',
      model: 'm',
      baseUrl: server.url,
      apiKey: 'key',
      userPrompt: 'Tell them',
      retries: 0,
    },
    tools: [{ type: 'operation', connector: 'chat', operation: 'send', params: { room: '<in.input.room>' }, ...tool }],
  }
  const workflow = document({
    blocks: [block('in', 'api_trigger'), block('ask', 'agent', params)],
    edges: ['in > ask'],
  })
  const { record } = await world.run(workflow, { room: 'lobby' })
  return { record, requests: server.requests }
}

test('a model calls an operation, and sees only the parameters that are not fixed', async () => {
  seen.length = 0
  const { record, requests } = await ask({ text: 'Hello', tags: ['a', 'b'] })
  expect(record.failure).toBeNull()
  expect(seen).toEqual(['POST /lobby/messages {"text":"Hello","kind":"plain","tags":"a,b"}'])
  expect(requests[0]?.body).toMatchObject({
    tools: [
      {
        function: {
          ...{ name: 'chat_send', description: 'Chat: Send a message' },
          parameters: {
            type: 'object',
            properties: {
              text: { type: 'string', description: 'The text' },
              tags: { type: 'array', items: { type: 'string' } },
            },
            required: ['text'],
          },
        },
      },
    ],
  })
  expect(JSON.stringify(requests[0]?.body)).not.toContain('room')
  expect(JSON.stringify(requests[1]?.body)).toContain('"content":"7"')
})

test('a model cannot replace a fixed parameter, and learns what is wrong with its arguments', async () => {
  seen.length = 0
  await ask({ text: 'Hello', room: 'vault' })
  expect(seen).toEqual(['POST /lobby/messages {"text":"Hello","kind":"plain"}'])
  const { requests } = await ask({ colour: 'red' })
  expect(JSON.stringify(requests[1]?.body)).toContain('The parameter text is missing.')
})
