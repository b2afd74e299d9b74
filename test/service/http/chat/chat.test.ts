import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { block, document } from '../../../support/make.ts'
import { ChatWorld } from './chat-world.ts'

let chats: ChatWorld
beforeAll(async () => {
  chats = await ChatWorld.open()
})
afterAll(() => chats.close())

describe('a chat', () => {
  test('replies, and returns the id that continues the conversation', async () => {
    const identifier = await chats.chat()
    const { status, json, headers } = await chats.say(identifier, { input: 'Hello' })
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
    const logs = await chats.executions.call(
      `/api/v1/logs?workspaceId=${chats.executions.workspaceId}&executionId=${json.executionId}`,
    )
    expect(logs.json.data).toMatchObject([{ trigger: 'chat', level: 'info' }])
  })

  test('remembers the latest messages of each conversation, also after a redeployment, and passes them to agents', async () => {
    const identifier = await chats.chat({ historyMax: 4 })
    const first = await chats.say(identifier, { input: 'One' })
    const { conversationId } = first.json
    // The system message, two of the history, and the new one.
    expect((await chats.say(identifier, { input: 'Two', conversationId })).json.reply).toBe('4: Two')
    const told = chats.told
    expect(told.map(({ content }) => content)).toEqual(['Repeat.', 'One', '2: One', 'Two'])
    await redeploy(identifier)
    expect((await chats.say(identifier, { input: 'Three', conversationId })).json.reply).toBe('6: Three')
    expect((await chats.say(identifier, { input: 'Four', conversationId })).json.reply).toBe('6: Four')
    expect((await chats.say(identifier, { input: 'Anew' })).json.reply).toBe('2: Anew')
  })

  test('passes no history to agents that do not want it, and keeps none when storing it is off', async () => {
    const deaf = await chats.chat({}, { history: false })
    const first = await chats.say(deaf, { input: 'One' })
    expect((await chats.say(deaf, { input: 'Two', conversationId: first.json.conversationId })).json.reply).toBe(
      '2: Two',
    )
    const forgetful = await chats.chat({ historyMax: 0 })
    const again = await chats.say(forgetful, { input: 'One' })
    expect((await chats.say(forgetful, { input: 'Two', conversationId: again.json.conversationId })).json.reply).toBe(
      '2: Two',
    )
  })

  test('begins the history with a message of the user, as models require', async () => {
    const identifier = await chats.chat({ historyMax: 3 })
    const { conversationId } = (await chats.say(identifier, { input: 'One' })).json
    await chats.say(identifier, { input: 'Two', conversationId })
    await chats.say(identifier, { input: 'Three', conversationId })
    expect(chats.told.map(({ content }) => content)).toEqual(['Repeat.', 'Two', '4: Two', 'Three'])
    const short = await chats.chat({ historyMax: 1 })
    const first = await chats.say(short, { input: 'One' })
    await chats.say(short, { input: 'Two', conversationId: first.json.conversationId })
    expect(chats.told.map(({ content }) => content)).toEqual(['Repeat.', 'Two'])
  })

  test('passes the same history to agents in a manual repetition of the run', async () => {
    const identifier = await chats.chat()
    const { conversationId } = (await chats.say(identifier, { input: 'One' })).json
    const second = await chats.say(identifier, { input: 'Two', conversationId })
    const told = chats.told
    const before = chats.server.requests.length
    const session = await chats.executions.signIn()
    const entry = await chats.executions.call(`/api/v1/logs/executions/${second.json.executionId}`)
    const runs = `/api/editor/workflows/${entry.json.workflowId}/runs`
    const from = { executionId: second.json.executionId, blockId: 'ask' }
    const again = await chats.executions.call(runs, { body: { from }, headers: session, key: null })
    const events = await fetch(`${chats.executions.url}${again.json.eventsUrl}`, { headers: session })
    expect(await events.text()).toContain('"status":"success"')
    expect(chats.server.requests.length).toBe(before + 1)
    expect(chats.told).toEqual(told)
  })

  test('streams like the execute endpoint; done contains the reply and the conversation ID', async () => {
    const identifier = await chats.chat()
    const response = await fetch(`${chats.executions.url}/api/chat/${identifier}`, {
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
    expect((await chats.say(identifier, { input: 'And?', conversationId })).json.reply).toBe('4: And?')
  })

  test('replies with the text that a function returns', async () => {
    const identifier = chats.newName()
    const talk = block('talk', 'chat_trigger', { identifier, access: 'public' })
    const code = block('echo', 'function', { code: 'return "You said " + <chat.input>' })
    await chats.executions.deploy(document({ name: identifier, blocks: [talk, code], edges: ['talk > echo'] }))
    const { json } = await chats.say(identifier, { input: 'Hi' })
    expect([json.reply, json.output.result]).toEqual(['You said Hi', 'You said Hi'])
  })

  test('replies with the data of a response block, and with any output as text', async () => {
    const identifier = chats.newName()
    await chats.executions.deploy(
      document({
        name: identifier,
        blocks: [
          block('talk', 'chat_trigger', { identifier, access: 'public' }),
          block('end', 'response', { data: { said: '<chat.input>', before: '<chat.history>' }, status: 201 }),
        ],
        edges: ['talk > end'],
      }),
    )
    const { status, json } = await chats.say(identifier, { input: 'Hi' })
    expect([status, json.output, json.reply]).toEqual([200, { said: 'Hi', before: [] }, '{"said":"Hi","before":[]}'])
    const { conversationId } = json
    const again = await chats.say(identifier, { input: 'Ho', conversationId })
    expect(again.json.output.before).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: json.reply },
    ])
  })

  test('accepts files', async () => {
    const identifier = chats.newName()
    const talk = block('talk', 'chat_trigger', { identifier, access: 'public' })
    await chats.executions.deploy(document({ name: identifier, blocks: [talk] }))
    const file = { type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('Hello')}` }
    const { json } = await chats.say(identifier, { input: '', files: [file] })
    expect(json.output.files).toMatchObject([{ name: 'a.txt', size: 5, url: expect.stringContaining('/files/') }])
    const broken = await chats.say(identifier, { input: 'x', files: [{ ...file, data: 'data:;base64,!' }] })
    expect([broken.status, broken.json.details[0].path]).toEqual([400, 'files[0].data'])
  })

  test('limits the bytes of a message without its files, while it arrives', async () => {
    const identifier = await chats.chat()
    // It has fewer characters than the limit of 2,000 bytes for a body without files.
    const long = await chats.say(identifier, { input: 'é'.repeat(1_200) })
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        const text = sent === 0 ? '{"input":"' : 'x'.repeat(500)
        sent += text.length
        controller.enqueue(new TextEncoder().encode(text))
      },
    })
    const response = await fetch(`${chats.executions.url}/api/chat/${identifier}`, { method: 'POST', body: endless })
    for (const { status, json } of [long, { status: response.status, json: await response.json() }]) {
      expect([status, json]).toEqual([413, { code: 'PAYLOAD_TOO_LARGE', error: expect.stringContaining('2000 bytes') }])
    }
    const file = { type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('x'.repeat(20_000))}` }
    expect((await chats.say(identifier, { input: 'Hello', files: [file] })).status).toBe(200)
  })

  test('reports a failed run, and does not store the message', async () => {
    const identifier = await chats.chat({ access: 'key' }, { baseUrl: 'http://127.0.0.1:1/v1' })
    const failed = await chats.say(identifier, { input: 'Hello' }, {}, chats.executions.apiKey)
    expect([failed.status, failed.json.code, failed.json.blockId]).toEqual([500, 'EXECUTION_FAILED', 'ask'])
    const conversationId = failed.headers.get('x-conversation-id')
    expect(conversationId).toBeString()
    expect(
      await chats.executions.rows('SELECT 1 FROM chat_turns WHERE conversation = $1', conversationId ?? ''),
    ).toEqual([])
  })

  test('hides the reason for a failure from anonymous visitors', async () => {
    const identifier = await chats.chat({}, { baseUrl: 'http://127.0.0.1:1/v1' })
    const failed = await chats.say(identifier, { input: 'Hello' })
    expect([failed.status, failed.json.code, failed.json.blockId]).toEqual([500, 'EXECUTION_FAILED', null])
    const streamed = await fetch(`${chats.executions.url}/api/chat/${identifier}`, {
      method: 'POST',
      body: JSON.stringify({ input: 'Hello', stream: true }),
    })
    for (const text of [JSON.stringify(failed.json), await streamed.text()]) {
      expect(text).toContain('could not answer')
      expect(text).not.toMatch(/127.0.0.1|ask/)
    }
  })

  test('shows anonymous visitors only the reply, and no block names', async () => {
    const selectedOutputs = ['talk.input', 'nothing.there']
    for (const stream of [true, false]) {
      const refused = await chats.say(await chats.chat(), { input: 'Hi', stream, selectedOutputs })
      expect([refused.status, refused.json.code]).toEqual([400, 'INVALID_INPUT'])
      expect(refused.json.details.map(({ path }: { path: string }) => path)).toEqual(['selectedOutputs'])
      expect(refused.json.error).not.toContain('talk')
    }
    const known = await chats.chat({ access: 'key' })
    const body = { input: 'Hi', stream: true, selectedOutputs: ['talk.input'] }
    const { text } = await chats.say(known, body, {}, chats.executions.apiKey)
    expect(text).toContain('"output":{"talk.input":"Hi"}')
  })

  test('refuses an invalid message with all its errors', async () => {
    const identifier = await chats.chat()
    const body = { input: 7, conversationId: 'no such thing', stream: 'yes' }
    const { status, json } = await chats.say(identifier, body)
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    expect(json.details.map(({ path }: { path: string }) => path)).toEqual(['stream', 'input', 'conversationId'])
    expect((await chats.say(identifier, { input: ' ' })).status).toBe(400)
    expect((await chats.executions.call(`/api/chat/${identifier}`, { text: '{', key: null })).json.code).toBe(
      'INVALID_JSON',
    )
    // A caller who guesses conversation IDs must not get into foreign conversations.
    expect((await chats.say(identifier, { input: 'Hi', conversationId: '1' })).status).toBe(400)
  })

  test('is not found while its workflow is not deployed, and reserves its identifier while it is', async () => {
    expect((await chats.say('nowhere', { input: 'Hi' })).status).toBe(404)
    const identifier = await chats.chat()
    const other = block('talk', 'chat_trigger', { identifier })
    const id = await chats.executions.deploy(document({ name: 'Another', blocks: [other] }), false)
    expect((await chats.executions.call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(409)
  })

  test('tells a page only its title and greeting', async () => {
    const identifier = await chats.chat({ title: 'Help', access: 'password', password: 'open sesame' })
    const { status, json } = await chats.executions.call(`/api/chat/${identifier}`, { key: null })
    expect([status, json]).toEqual([200, { access: 'password', title: 'Help', greeting: null, mayTalk: false }])
  })
})

test('the sample uses the model that the environment names', async () => {
  const variables = { MODEL_URL: chats.server.url, MODEL_NAME: 'm', MODEL_KEY: 'any-key' }
  for (const [name, value] of Object.entries(variables)) {
    const path = `/api/workspaces/${chats.executions.workspaceId}/environment/${name}`
    await chats.executions.call(path, { method: 'PUT', body: { value } })
  }
  const file = join(import.meta.dir, '../../../../samples/chat.json')
  await chats.executions.deploy(JSON.parse(readFileSync(file, 'utf8')))
  const { conversationId } = (await chats.say('sample', { input: 'Hello' }, {}, chats.executions.apiKey)).json
  const again = await chats.say('sample', { input: 'Still there?', conversationId }, {}, chats.executions.apiKey)
  expect(again.json.reply).toBe('4: Still there?')
})

test('a chat counts as a synchronous execution of the owner', async () => {
  const limits = async () => (await chats.executions.call('/api/users/me/usage-limits')).json.rateLimit.sync
  const identifier = await chats.chat()
  await chats.say(identifier, { input: 'Hi' })
  const before = await limits()
  const { headers } = await chats.say(identifier, { input: 'Hi' })
  expect((await limits()).remaining).toBe(before.remaining - 1)
  expect(Number(headers.get('x-ratelimit-remaining'))).toBe(before.remaining - 1)
})

test('messages are encrypted on disk', async () => {
  const identifier = await chats.chat()
  const word = 'rhinoceros-9731'
  const { json } = await chats.say(identifier, { input: word })
  await chats.say(identifier, { input: 'And?', conversationId: json.conversationId })
  const [row] = await chats.executions.rows(
    'SELECT content FROM chat_turns WHERE conversation = $1',
    json.conversationId,
  )
  expect(Buffer.from((row as { content: Uint8Array }).content).toString('latin1')).not.toContain(word)
})

/** Creates the next version of a chat. */
async function redeploy(identifier: string): Promise<void> {
  const { json } = await chats.executions.call(`/api/workflows?workspaceId=${chats.executions.workspaceId}`)
  const found = json.data.find(({ name }: { name: string }) => name.startsWith(`${identifier} `))
  expect((await chats.executions.call(`/api/workflows/${found.id}/deploy`, { method: 'POST' })).json.version).toBe(2)
}
