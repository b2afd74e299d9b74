import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { block, document } from '../make.ts'
import { ModelServer, type SeenRequest } from '../models/model-server.ts'
import { ExecutionWorld } from './execution-world.ts'

let world: ExecutionWorld
let server: ModelServer
/** Says how many messages it was sent, and the last of them. */
const parrot = ({ body }: SeenRequest) => {
  const messages = body['messages'] as { role: string; content: string }[]
  return { text: [`${messages.length}: `, String(messages.at(-1)?.content)], usage: { prompt: 5, completion: 5 } }
}

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'body-bytes-max-files': '40000' })
  server = await ModelServer.start((request) => parrot(request))
  const variable = { method: 'PUT', body: { value: 'open sesame' } }
  await world.call(`/api/workspaces/${world.workspaceId}/environment/CHAT_PASSWORD`, variable)
})
afterAll(async () => {
  await world.close()
  await server[Symbol.asyncDispose]()
})

let names = 0
/** Deploys a chat whose agent repeats what was said; gives its identifier. */
async function chat(params: Record<string, unknown> = {}, agent: Record<string, unknown> = {}): Promise<string> {
  names += 1
  const identifier = `chat-${names}`
  const asked = { provider: 'openai-compatible', model: 'm', baseUrl: server.url, retries: 0 }
  await world.deploy(
    document({
      name: identifier,
      blocks: [
        block('talk', 'chat_trigger', { identifier, access: 'public', ...params }),
        block('ask', 'agent', { ...asked, systemPrompt: 'Repeat.', userPrompt: '<chat.input>', ...agent }),
      ],
      edges: ['talk > ask'],
    }),
  )
  return identifier
}

async function redeploy(identifier: string): Promise<void> {
  const { json } = await world.call(`/api/workflows?workspaceId=${world.workspaceId}`)
  const found = json.data.find(({ name }: { name: string }) => name.startsWith(`${identifier} `))
  expect((await world.call(`/api/workflows/${found.id}/deploy`, { method: 'POST' })).json.version).toBe(2)
}

const say = (identifier: string, body: unknown, headers: Record<string, string> = {}, key: string | null = null) =>
  world.call(`/api/chat/${identifier}`, { body, key, headers })

describe('a chat', () => {
  test('answers, and says how to go on', async () => {
    const identifier = await chat()
    const { status, json, headers } = await say(identifier, { input: 'Hello' })
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        output: expect.objectContaining({ content: '2: Hello' }),
        reply: '2: Hello',
        conversationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        executionId: headers.get('x-execution-id'),
      },
    ])
    expect(headers.get('x-conversation-id')).toBe(json.conversationId)
    const logs = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&executionId=${json.executionId}`)
    expect(logs.json.data).toMatchObject([{ trigger: 'chat', level: 'info' }])
  })

  test('remembers the latest messages of each conversation, over a redeployment, and tells agents of them', async () => {
    const identifier = await chat({ historyMax: 4 })
    const first = await say(identifier, { input: 'One' })
    const { conversationId } = first.json
    // System, two of the history, and the message.
    expect((await say(identifier, { input: 'Two', conversationId })).json.reply).toBe('4: Two')
    const told = server.requests.at(-1)?.body['messages'] as { content: string }[]
    expect(told.map(({ content }) => content)).toEqual(['Repeat.', 'One', '2: One', 'Two'])
    await redeploy(identifier)
    expect((await say(identifier, { input: 'Three', conversationId })).json.reply).toBe('6: Three')
    expect((await say(identifier, { input: 'Four', conversationId })).json.reply).toBe('6: Four')
    expect((await say(identifier, { input: 'Anew' })).json.reply).toBe('2: Anew')
  })

  test('tells no history to an agent that wants none, and keeps none when it may not', async () => {
    const deaf = await chat({}, { history: false })
    const first = await say(deaf, { input: 'One' })
    expect((await say(deaf, { input: 'Two', conversationId: first.json.conversationId })).json.reply).toBe('2: Two')
    const forgetful = await chat({ historyMax: 0 })
    const again = await say(forgetful, { input: 'One' })
    expect((await say(forgetful, { input: 'Two', conversationId: again.json.conversationId })).json.reply).toBe(
      '2: Two',
    )
  })

  test('tells agents the same when a run of it is run again by hand', async () => {
    const identifier = await chat()
    const { conversationId } = (await say(identifier, { input: 'One' })).json
    const second = await say(identifier, { input: 'Two', conversationId })
    const told = server.requests.at(-1)?.body['messages']
    const before = server.requests.length
    const session = await world.signIn()
    const entry = await world.call(`/api/v1/logs/executions/${second.json.executionId}`)
    const runs = `/api/editor/workflows/${entry.json.workflowId}/runs`
    const from = { executionId: second.json.executionId, blockId: 'ask' }
    const again = await world.call(runs, { body: { from }, headers: session, key: null })
    const events = await fetch(`${world.url}${again.json.eventsUrl}`, { headers: session })
    expect(await events.text()).toContain('"status":"success"')
    expect(server.requests.length).toBe(before + 1)
    expect(server.requests.at(-1)?.body['messages']).toEqual(told)
  })

  test('streams like the execute endpoint, and tells the reply and the conversation at the end', async () => {
    const identifier = await chat()
    const response = await fetch(`${world.url}/api/chat/${identifier}`, {
      method: 'POST',
      body: JSON.stringify({ input: 'Hello', stream: true }),
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const conversationId = response.headers.get('x-conversation-id')
    const messages = (await response.text()).split('\n\n').flatMap((text) => {
      return text.startsWith('data: ') ? [text.slice(6)] : []
    })
    expect(messages.pop()).toBe('[DONE]')
    expect(messages.map((message) => JSON.parse(message))).toEqual([
      { blockId: 'ask', chunk: '2: ' },
      { blockId: 'ask', chunk: 'Hello' },
      {
        ...{ event: 'done', success: true, output: expect.objectContaining({ content: '2: Hello' }) },
        ...{ metadata: { duration: expect.any(Number) }, reply: '2: Hello', conversationId },
      },
    ])
    expect((await say(identifier, { input: 'And?', conversationId })).json.reply).toBe('4: And?')
  })

  test('gives the data of a response block, and any output as text', async () => {
    const identifier = `chat-data-${names}`
    await world.deploy(
      document({
        name: identifier,
        blocks: [
          block('talk', 'chat_trigger', { identifier, access: 'public' }),
          block('end', 'response', { data: { said: '<chat.input>', before: '<chat.history>' }, status: 201 }),
        ],
        edges: ['talk > end'],
      }),
    )
    const { status, json } = await say(identifier, { input: 'Hi' })
    expect([status, json.output, json.reply]).toEqual([200, { said: 'Hi', before: [] }, '{"said":"Hi","before":[]}'])
    const { conversationId } = json
    const again = await say(identifier, { input: 'Ho', conversationId })
    expect(again.json.output.before).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: json.reply },
    ])
  })

  test('takes files', async () => {
    const identifier = `chat-files-${names}`
    const talk = block('talk', 'chat_trigger', { identifier, access: 'public' })
    await world.deploy(document({ name: identifier, blocks: [talk] }))
    const file = { type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('Hello')}` }
    const { json } = await say(identifier, { input: '', files: [file] })
    expect(json.output.files).toMatchObject([{ name: 'a.txt', size: 5, url: expect.stringContaining('/files/') }])
    const broken = await say(identifier, { input: 'x', files: [{ ...file, data: 'data:;base64,!' }] })
    expect([broken.status, broken.json.details[0].path]).toEqual([400, 'files[0].data'])
  })

  test('whose run fails says so, and forgets what was said', async () => {
    const identifier = await chat({ access: 'key' }, { baseUrl: 'http://127.0.0.1:1/v1' })
    const failed = await say(identifier, { input: 'Hello' }, {}, world.apiKey)
    expect([failed.status, failed.json.code, failed.json.blockId]).toEqual([500, 'EXECUTION_FAILED', 'ask'])
    const conversationId = failed.headers.get('x-conversation-id')
    expect(conversationId).toBeString()
    expect(world.rows('SELECT 1 FROM chat_turns WHERE conversation = ?', conversationId ?? '')).toEqual([])
  })

  test('tells strangers nothing of what went wrong inside', async () => {
    const identifier = await chat({}, { baseUrl: 'http://127.0.0.1:1/v1' })
    const failed = await say(identifier, { input: 'Hello' })
    expect([failed.status, failed.json.code, failed.json.blockId]).toEqual([500, 'EXECUTION_FAILED', null])
    const streamed = await fetch(`${world.url}/api/chat/${identifier}`, {
      method: 'POST',
      body: JSON.stringify({ input: 'Hello', stream: true }),
    })
    for (const text of [JSON.stringify(failed.json), await streamed.text()]) {
      expect(text).toContain('could not answer')
      expect(text).not.toMatch(/127.0.0.1|ask/)
    }
  })

  test('refuses what is no message, with all that is wrong', async () => {
    const identifier = await chat()
    const body = { input: 7, conversationId: 'no such thing', stream: 'yes' }
    const { status, json } = await say(identifier, body)
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    expect(json.details.map(({ path }: { path: string }) => path)).toEqual(['stream', 'input', 'conversationId'])
    expect((await say(identifier, { input: ' ' })).status).toBe(400)
    expect((await world.call(`/api/chat/${identifier}`, { text: '{', key: null })).json.code).toBe('INVALID_JSON')
    // Who guesses ids of others must not get into their conversations.
    expect((await say(identifier, { input: 'Hi', conversationId: '1' })).status).toBe(400)
  })

  test('is nowhere when its workflow is not deployed, and its identifier is taken when it is', async () => {
    expect((await say('nowhere', { input: 'Hi' })).status).toBe(404)
    const identifier = await chat()
    const other = block('talk', 'chat_trigger', { identifier })
    const id = await world.deploy(document({ name: 'Another', blocks: [other] }), false)
    expect((await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(409)
  })

  test('tells a page its title and greeting, and nothing else', async () => {
    const identifier = await chat({ title: 'Help', access: 'password', password: 'open sesame' })
    const { status, json } = await world.call(`/api/chat/${identifier}`, { key: null })
    expect([status, json]).toEqual([200, { access: 'password', title: 'Help', greeting: null, mayTalk: false }])
  })
})

test('the sample talks with whatever model the environment names', async () => {
  const variables = { MODEL_URL: server.url, MODEL_NAME: 'm', MODEL_KEY: 'any-key' }
  for (const [name, value] of Object.entries(variables)) {
    const path = `/api/workspaces/${world.workspaceId}/environment/${name}`
    await world.call(path, { method: 'PUT', body: { value } })
  }
  const file = join(import.meta.dir, '../../samples/chat.json')
  await world.deploy(JSON.parse(readFileSync(file, 'utf8')))
  const { conversationId } = (await say('sample', { input: 'Hello' }, {}, world.apiKey)).json
  const again = await say('sample', { input: 'Still there?', conversationId }, {}, world.apiKey)
  expect(again.json.reply).toBe('4: Still there?')
})

describe('who may talk to a chat', () => {
  test('by key: holders of one for the workspace', async () => {
    const identifier = await chat({ access: 'key' })
    expect((await say(identifier, { input: 'Hi' })).json.code).toBe('API_KEY_REQUIRED')
    const wrong = await say(identifier, { input: 'Hi' }, {}, `mrk_${'x'.repeat(36)}`)
    expect([wrong.status, wrong.json.code]).toEqual([401, 'INVALID_API_KEY'])
    const own = await say(identifier, { input: 'Hi', conversationId: 'user-1' }, {}, world.apiKey)
    expect([own.status, own.json.conversationId]).toEqual([200, 'user-1'])
  })

  test('by key: people who are signed in need none, unless another page sends them', async () => {
    const identifier = await chat({ access: 'key' })
    const session = await world.signIn()
    const facts = (headers: Record<string, string>) => world.call(`/api/chat/${identifier}`, { key: null, headers })
    expect([(await facts({})).json.mayTalk, (await facts(session)).json.mayTalk]).toEqual([false, true])
    expect((await say(identifier, { input: 'Hi' }, session)).status).toBe(200)
    const forged = await say(identifier, { input: 'Hi' }, { ...session, 'sec-fetch-site': 'cross-site' })
    expect([forged.status, forged.json.code]).toEqual([403, 'FORBIDDEN'])
  })

  test('by password: whoever knows it; guesses are bounded, and nobody reads it in a log', async () => {
    const identifier = await chat({ access: 'password', password: '{{CHAT_PASSWORD}}' })
    const withPassword = (password: string) =>
      say(identifier, { input: 'Hi' }, { 'x-chat-password': encodeURIComponent(password) })
    expect((await say(identifier, { input: 'Hi' })).json.code).toBe('INVALID_CREDENTIALS')
    const right = await withPassword('open sesame')
    expect(right.status).toBe(200)
    const entry = await world.call(`/api/v1/logs/executions/${right.json.executionId}`)
    expect(JSON.stringify(entry.json.executionMetadata)).not.toContain('sesame')
    const wrong = await Promise.all(Array.from({ length: 20 }, (_, each) => withPassword(`guess ${each}`)))
    expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([401]))
    const late = await withPassword('open sesame')
    expect([late.status, late.json.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('by a password of other letters', async () => {
    const identifier = await chat({ access: 'password', password: 'Schlüssel 鍵' })
    const headers = { 'x-chat-password': encodeURIComponent('Schlüssel 鍵') }
    expect((await say(identifier, { input: 'Hi' }, headers)).status).toBe(200)
  })

  test('nobody, when the password names a variable that is not set', async () => {
    const identifier = await chat({ access: 'password', password: '{{NOT_SET}}' })
    expect((await say(identifier, { input: 'Hi' }, { 'x-chat-password': '{{NOT_SET}}' })).status).toBe(401)
  })
})

test('a chat counts as a synchronous execution of the owner', async () => {
  const limits = async () => (await world.call('/api/users/me/usage-limits')).json.rateLimit.sync
  const identifier = await chat()
  await say(identifier, { input: 'Hi' })
  const before = await limits()
  const { headers } = await say(identifier, { input: 'Hi' })
  expect((await limits()).remaining).toBe(before.remaining - 1)
  expect(Number(headers.get('x-ratelimit-remaining'))).toBe(before.remaining - 1)
})

test('what is said lies on the disk encrypted', async () => {
  const identifier = await chat()
  const word = 'rhinoceros-9731'
  const { json } = await say(identifier, { input: word })
  await say(identifier, { input: 'And?', conversationId: json.conversationId })
  const [row] = world.rows('SELECT content FROM chat_turns WHERE conversation = ?', json.conversationId)
  expect(Buffer.from((row as { content: Uint8Array }).content).toString('latin1')).not.toContain(word)
})
