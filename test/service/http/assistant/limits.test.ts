import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { replyLimits } from '../../../../src/assistant/budget.ts'
import { AssistantWorld, callOf, done, empty, eventsOf, start } from './assistant-world.ts'

let world: AssistantWorld
beforeAll(async () => {
  world = await AssistantWorld.open()
})
afterAll(() => world?.close())

test('invalid arguments of the model go back to it', async () => {
  const id = await world.http.workflow({ ...empty, name: 'Arguments' })
  const texts = [
    '{',
    '[]',
    `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    `{"workflowId":[${'0,'.repeat(50_000)}0]}`,
  ]
  const toolCalls = texts.map((text, at) => ({ id: `c${at}`, name: 'get_workflow', arguments: text }))
  const unknown = ['deploy_workflow', '__proto__', 'x'.repeat(5_000)].map((name, at) => {
    return { id: `u${at}`, name, arguments: '{}' }
  })
  world.say({ toolCalls: [...toolCalls, ...unknown] }, done)
  const { events } = await world.ask(id, 'Hello')
  expect(eventsOf(events, 'tool').map(({ status }) => status)).toEqual(Array(7).fill('failed'))
  expect(eventsOf(events, 'failed')).toEqual([])
  for (const { name, message } of eventsOf(events, 'tool'))
    expect(name.length + (message?.length ?? 0)).toBeLessThan(700)
})

describe('a limit', () => {
  test('ends a reply that goes on and on', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Endless' })
    world.say(callOf('edit_workflow', { workflowId: id, edits: [start] }), callOf('list_blocks', {}))
    const { events } = await world.ask(id, 'Go on.')
    expect(world.seen).toHaveLength(replyLimits.modelCallsMax)
    expect(eventsOf(events, 'failed').map(({ code }) => code)).toEqual(['LIMIT_REACHED'])
    // The edit before the limit is not lost.
    expect(eventsOf(events, 'proposal')).toHaveLength(1)
  })

  test('refuses more tool calls in one response than a reply may have', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Many calls' })
    const call = (at: number) => ({ id: `c${at}`, name: 'list_blocks', arguments: '{}' })
    world.say({ toolCalls: Array.from({ length: replyLimits.toolCallsMax + 1 }, (_, at) => call(at)) })
    const { events } = await world.ask(id, 'Hello')
    expect(eventsOf(events, 'failed').map(({ code }) => code)).toEqual(['LIMIT_REACHED'])
    expect(eventsOf(events, 'tool')).toEqual([])
  })

  test('keeps an account from a third reply at once', async () => {
    const id = await world.http.workflow({ ...empty, name: 'At once' })
    const gate = Promise.withResolvers<void>()
    world.say({ ...done, gate: () => gate.promise })
    const running = [world.ask(id, 'One'), world.ask(id, 'Two')]
    while (world.seen.length < 2) await Bun.sleep(5)
    expect((await world.ask(id, 'Three')).status).toBe(429)
    gate.resolve()
    for (const { status } of await Promise.all(running)) expect(status).toBe(200)
    expect((await world.ask(id, 'Four')).status).toBe(200)
  })

  test('keeps an account from using more tokens in a day', async () => {
    const poor = await AssistantWorld.open({ 'assistant-tokens-per-day': '2000' })
    try {
      const id = await poor.http.workflow({ ...empty, name: 'Tokens' })
      poor.say(done)
      expect((await poor.ask(id, 'Hello')).status).toBe(200)
      const { status, text } = await poor.ask(id, 'Hello')
      expect([status, JSON.parse(text).code]).toEqual([402, 'USAGE_LIMIT_EXCEEDED'])
      expect((await poor.ask(id, 'Hello', { key: await poor.http.member('editor') })).status).toBe(200)
      const metrics = await poor.http.metrics.text()
      expect(metrics).toContain('millrace_assistant_replies_total 2\n')
      expect(metrics).toContain('millrace_assistant_tokens_total{kind="prompt"} 4000\n')
    } finally {
      await poor.close()
    }
  })

  test('refuses a conversation whose last message is not from the user, or which is too long', async () => {
    const id = await world.http.workflow({ ...empty, name: 'Conversation' })
    world.say(done)
    const send = async (messages: object[]) =>
      (await world.http.post(`/api/workflows/${id}/assistant`, { messages })).json?.code
    const own = { role: 'assistant', content: 'Hello' }
    expect(await send([{ role: 'user', content: 'Hello' }, own])).toBe('INVALID_INPUT')
    expect(await send([])).toBe('INVALID_INPUT')
    expect(await send(Array(6).fill({ role: 'user', content: 'x'.repeat(19_000) }))).toBe('INVALID_INPUT')
    expect(world.seen).toEqual([])
  })
})
