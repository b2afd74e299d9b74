import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ManualWorld } from '../runs/manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(() => world.close())

const chatty = (params: Record<string, unknown> = {}, code = 'return `You said ${<chat.input>}`') =>
  document({
    blocks: [
      block('chat', 'chat_trigger', { identifier: crypto.randomUUID(), ...params }),
      block('end', 'function', { code }),
    ],
    edges: ['chat > end'],
  })
const open = { access: 'public' }

const editor = (path: string, method = 'POST') =>
  world.executions.call(`/api/editor/workflows/${path}`, {
    method,
    headers: world.session,
    key: null,
    ...(method === 'POST' ? { body: { trigger: 'chat' } } : {}),
  })
const listen = async (id: string) => (await editor(`${id}/listen`)).json as { token: string; url: string }
const send = (url: string, body: unknown = { input: 'Hello' }, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

describe('a test address of a chat', () => {
  test('takes one message, runs the draft with it, and responds with the reply', async () => {
    const id = await world.executions.deploy(chatty(open), false)
    const { token, url } = await listen(id)
    expect(url).toContain('/api/chat/test/')
    const waiting = editor(`${id}/listen/${token}`, 'GET')
    const sent = await send(url)
    expect([sent.status, await sent.json()]).toMatchObject([200, { success: true, reply: 'You said Hello' }])
    expect(await world.entryOf(sent.headers.get('x-execution-id') ?? '')).toMatchObject({
      ...{ trigger: 'manual', version: null },
    })
    const { trigger, request } = (await waiting).json
    expect([trigger, request.fields]).toMatchObject(['chat', { input: 'Hello', history: [], files: [] }])
    expect((await send(url)).status).toBe(409)
    const { ended } = await world.again(id, { listened: token })
    expect(ended.output).toMatchObject({ result: 'You said Hello' })
    expect((await editor(`${id}/listen/${token}`, 'DELETE')).status).toBe(204)
    expect((await send(url)).status).toBe(404)
  })

  test('is not an address for webhooks, and the address of a webhook takes no message', async () => {
    const id = await world.executions.deploy(chatty(open), false)
    const { url } = await listen(id)
    expect((await send(url.replace('/api/chat/test/', '/api/webhooks/test/'))).status).toBe(404)
    expect((await send(url)).status).toBe(200)
  })

  test('checks the caller and the message like the deployed chat, and a refused message is not taken', async () => {
    const id = await world.executions.deploy(chatty({ access: 'password', password: 'sesame' }), false)
    const { token, url } = await listen(id)
    expect((await send(url)).status).toBe(401)
    const password = { 'x-chat-password': 'sesame' }
    expect((await send(url, { input: '' }, password)).status).toBe(400)

    expect((await world.post(id, { listened: token })).status).toBe(404)
    expect((await send(url, { input: 'Hello' }, password)).status).toBe(200)
  })

  test('streams the reply to a sender that asks for it', async () => {
    const id = await world.executions.deploy(chatty(open), false)
    const { url } = await listen(id)
    const sent = await send(url, { input: 'Hello', stream: true })
    expect(sent.headers.get('content-type')).toStartWith('text/event-stream')
    const events = (await sent.text()).split('\n\n').filter((line) => line.startsWith('data: {'))
    const done = JSON.parse(events.at(-1)?.slice(6) ?? '{}')
    expect(done).toMatchObject({ event: 'done', success: true, reply: 'You said Hello' })
    expect(await world.entryOf(sent.headers.get('x-execution-id') ?? '')).toMatchObject({ trigger: 'manual' })
  })

  test('stores the files of a message for each run that uses it', async () => {
    const id = await world.executions.deploy(chatty(open, 'return <chat.files[0].size>'), false)
    const { token, url } = await listen(id)
    const file = { type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('Hello')}` }
    const sent = await send(url, { input: 'Look', files: [file] })
    expect(await sent.json()).toMatchObject({ output: { result: 5 } })
    const { request } = (await editor(`${id}/listen/${token}`, 'GET')).json
    expect(request.fields.files).toEqual([{ url: '', name: 'a.txt', size: 5, type: 'text/plain' }])
    const { executionId, ended } = await world.again(id, { listened: token })
    expect(ended.output).toMatchObject({ result: 5 })
    expect((await world.entryOf(executionId)).files).toMatchObject([{ name: 'a.txt' }])
  })

  test('reads the conversation that the message continues, and does not add to it', async () => {
    const history = 'return <chat.history>.map(({ content }) => content).join(" | ")'
    const id = await world.executions.deploy(chatty({ identifier: 'going-on' }, history))
    const key = { 'x-api-key': world.executions.apiKey }
    const chat = `${world.executions.url}/api/chat/going-on`
    const said = (input: string) => ({ input, conversationId: 'talk-1' })
    expect((await send(chat, said('one'), key)).status).toBe(200)
    const { url } = await listen(id)
    const replyTo = async (to: string, input: string) => (await (await send(to, said(input), key)).json()).reply
    expect(await replyTo(url, 'two')).toStartWith('one')
    expect(await replyTo(chat, 'three')).not.toContain('two')
  })
})

test('a block alone uses the values of the message', async () => {
  const id = await world.executions.deploy(chatty(open), false)
  const { token, url } = await listen(id)
  expect((await send(url, { input: 'again' })).status).toBe(200)
  const { ended } = await world.again(id, { listened: token, only: { blockId: 'end' } })
  expect(ended.output).toMatchObject({ result: 'You said again' })
})
