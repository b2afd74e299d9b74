import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ChatWorld } from './chat-world.ts'

let world: ChatWorld
beforeAll(async () => {
  world = await ChatWorld.open()
})
afterAll(() => world.close())

/** Deploys a chat that asks a person before it replies. */
async function chat(params: Record<string, unknown> = {}, code = 'return `${<ask.by>} says ${<ask.approved>}`') {
  const identifier = world.newName()
  const blocks = [
    block('talk', 'chat_trigger', { identifier, access: 'public', ...params }),
    block('ask', 'approval', { title: 'May we?' }),
    block('reply', 'function', { code }),
  ]
  await world.executions.deploy(document({ name: identifier, blocks, edges: ['talk > ask', 'ask > reply'] }))
  return identifier
}

async function answer(contextId: string, approved: boolean): Promise<void> {
  const path = `/api/workspaces/${world.executions.workspaceId}/pauses/${contextId}`
  const { json } = await world.executions.call(path)
  const { pathname } = new URL(json.callbackUrl)
  expect((await world.executions.call(pathname, { key: null, body: { approved } })).status).toBe(200)
}

type Caller = { key?: string | null; headers?: Record<string, string> }

const later = (identifier: string, executionId: string, { key = null, headers = {} }: Caller = {}) =>
  world.executions.call(`/api/chat/${identifier}/runs/${executionId}`, { key, headers })

async function ended(identifier: string, executionId: string, caller: Caller = {}) {
  for (;;) {
    const { status, json } = await later(identifier, executionId, caller)
    expect(status).toBe(200)
    if (json.reply !== null || json.error !== null) return json
    await Bun.sleep(20)
  }
}

test('the sender of a message gets the reply of a paused run when the run has ended', async () => {
  const identifier = await chat()
  const { status, json } = await world.say(identifier, { input: 'Please' })
  expect([status, json.status, json.conversationId]).toEqual([202, 'paused', expect.any(String)])
  const { executionId, paused } = json
  expect((await later(identifier, executionId)).json).toEqual({ status: 'paused', reply: null, error: null })
  await answer(paused[0].contextId, true)
  const done = { status: 'completed', reply: 'null says true', error: null }
  expect(await ended(identifier, executionId)).toEqual(done)
})

test('the conversation remembers the reply', async () => {
  const identifier = await chat({}, 'return (<talk.history>).map(({ content }) => content).join(", ") || "first"')
  const first = (await world.say(identifier, { input: 'One' })).json
  await answer(first.paused[0].contextId, true)
  expect((await ended(identifier, first.executionId)).reply).toBe('first')
  const { conversationId } = first
  const history = async () => {
    const { executionId, paused } = (await world.say(identifier, { input: 'Two', conversationId })).json
    await answer(paused[0].contextId, true)
    return (await ended(identifier, executionId)).reply as string
  }
  // The reply is added right after the log entry.
  while ((await history()) === 'first') await Bun.sleep(20)
  expect(await history()).toStartWith('One, first, Two')
})

test('a visitor learns that the run failed, but not why', async () => {
  const code = 'throw new Error("the secret reason")'
  const [open, closed] = [await chat({}, code), await chat({ access: 'key' }, code)]
  const key = world.executions.apiKey
  const visitor = (await world.say(open, { input: 'Please' })).json
  const member = (await world.say(closed, { input: 'Please' }, {}, key)).json
  for (const { paused } of [visitor, member]) await answer(paused[0].contextId, true)
  const told = await ended(open, visitor.executionId)
  expect([told.status, told.error]).toEqual(['failed', 'The chat could not answer. Try again in a moment.'])
  const why = await ended(closed, member.executionId, { key })
  expect([why.status, why.error]).toEqual(['failed', expect.stringContaining('the secret reason')])
})

test('only callers who may use the chat get replies, and only those of its own runs', async () => {
  const password = { 'X-Chat-Password': 'open sesame' }
  const identifier = await chat({ access: 'password', password: '{{CHAT_PASSWORD}}' })
  const other = await chat()
  const { executionId } = (await world.say(identifier, { input: 'Please' }, password)).json
  expect((await later(identifier, executionId)).status).toBe(401)
  expect((await later(identifier, executionId, { headers: password })).json.status).toBe('paused')
  expect((await later(other, executionId)).status).toBe(404)
  expect((await later(other, 'unknown')).status).toBe(404)
})

test('a chat does not show what a run of another trigger of its workflow returned', async () => {
  const identifier = world.newName()
  const blocks = [
    block('talk', 'chat_trigger', { identifier, access: 'public' }),
    block('start', 'api_trigger'),
    block('reply', 'function', { code: 'return "internal"' }),
  ]
  const edges = ['talk > reply', 'start > reply']
  const id = await world.executions.deploy(document({ name: identifier, blocks, edges }))
  const { json } = await world.executions.execute(id, {})
  expect(json.output.result).toBe('internal')
  const { status, text } = await later(identifier, json.executionId)
  expect([status, text.includes('internal')]).toEqual([404, false])
})
