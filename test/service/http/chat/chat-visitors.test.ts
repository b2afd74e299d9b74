import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ChatWorld } from './chat-world.ts'

/** 5 prompt and 5 completion tokens of this model cost 0.00005625 USD. */
const paid = { model: 'gpt-5' }
let chats: ChatWorld
beforeAll(async () => {
  chats = await ChatWorld.open({ 'chat-visitor-per-minute': '5', 'public-chat-usd-per-day': '0.0001' })
})
afterAll(() => chats.close())

describe('a visitor without a key', () => {
  test.each(['public', 'password'])('has a limit of messages per minute in a %s chat', async (access) => {
    const identifier = await chats.chat({ access, password: 'open sesame' })
    const say = (key: string | null = null) =>
      chats.say(identifier, { input: 'Hi' }, { 'x-chat-password': 'open sesame' }, key)
    const responses = await Promise.all(Array.from({ length: 8 }, () => say()))
    const refused = responses.filter(({ status }) => status === 429)
    expect([responses.filter(({ status }) => status === 200).length, refused.length]).toEqual([5, 3])
    for (const { json, headers } of refused) {
      expect(json).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await chats.say(await chats.chat(), { input: 'Hi' })).status).toBe(200)
  })

  test('is refused by a public chat that has reached its daily limit, and learns nothing about the owner', async () => {
    const identifier = await chats.chat({}, paid)
    const statuses = [
      (await chats.say(identifier, { input: 'Hi' })).status,
      (await chats.say(identifier, { input: 'Hi' })).status,
    ]
    const refused = await chats.say(identifier, { input: 'Hi' })
    expect([...statuses, refused.status]).toEqual([200, 200, 402])
    expect(refused.json).toEqual({ error: 'This chat accepts no more messages for now.', code: 'USAGE_LIMIT_EXCEEDED' })
    const [{ cost } = { cost: 0 }] = (await chats.executions.rows(
      'SELECT sum(cost_total) AS cost FROM logs WHERE cost_total > 0',
    )) as { cost: number }[]
    expect(cost).toBeGreaterThan(0.0001)
  })

  test('does not limit callers with a key', async () => {
    const identifier = await chats.chat({ access: 'key' }, paid)
    const say = () => chats.say(identifier, { input: 'Hi' }, {}, chats.executions.apiKey)
    const responses = await Promise.all(Array.from({ length: 8 }, say))
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  })
})
