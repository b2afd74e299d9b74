import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ChatWorld } from './chat-world.ts'

let chats: ChatWorld
beforeAll(async () => {
  chats = await ChatWorld.open()
})
afterAll(() => chats.close())

describe('who may talk to a chat', () => {
  test('by key: callers with a key for the workspace', async () => {
    const identifier = await chats.chat({ access: 'key' })
    expect((await chats.say(identifier, { input: 'Hi' })).json.code).toBe('API_KEY_REQUIRED')
    const wrong = await chats.say(identifier, { input: 'Hi' }, {}, `mrk_${'x'.repeat(36)}`)
    expect([wrong.status, wrong.json.code]).toEqual([401, 'INVALID_API_KEY'])
    const own = await chats.say(identifier, { input: 'Hi', conversationId: 'user-1' }, {}, chats.executions.apiKey)
    expect([own.status, own.json.conversationId]).toEqual([200, 'user-1'])
  })

  test('by key: signed-in users without a key, but not from other sites', async () => {
    const identifier = await chats.chat({ access: 'key' })
    const session = await chats.executions.signIn()
    const facts = (headers: Record<string, string>) =>
      chats.executions.call(`/api/chat/${identifier}`, { key: null, headers })
    expect([(await facts({})).json.mayTalk, (await facts(session)).json.mayTalk]).toEqual([false, true])
    expect((await chats.say(identifier, { input: 'Hi' }, session)).status).toBe(200)
    const forged = await chats.say(identifier, { input: 'Hi' }, { ...session, 'sec-fetch-site': 'cross-site' })
    expect([forged.status, forged.json.code]).toEqual([403, 'FORBIDDEN'])
  })

  test('by password: callers with the password; guesses are limited, and no log contains it', async () => {
    const identifier = await chats.chat({ access: 'password', password: '{{CHAT_PASSWORD}}' })
    const withPassword = (password: string) =>
      chats.say(identifier, { input: 'Hi' }, { 'x-chat-password': encodeURIComponent(password) })
    expect((await chats.say(identifier, { input: 'Hi' })).json.code).toBe('INVALID_CREDENTIALS')
    const right = await withPassword('open sesame')
    expect(right.status).toBe(200)
    const entry = await chats.executions.call(`/api/v1/logs/executions/${right.json.executionId}`)
    expect(JSON.stringify(entry.json.executionMetadata)).not.toContain('sesame')
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, each) => withPassword(`guess ${each}`)))
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(20)
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(10)
    const late = await withPassword('open sesame')
    expect([late.status, late.json.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    expect(late.json.error).toStartWith('More than 20 wrong passwords in a minute')
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('by password: letters of any alphabet', async () => {
    const identifier = await chats.chat({ access: 'password', password: 'Schlüssel 鍵' })
    const utf8 = Buffer.from('Schlüssel 鍵').toString('latin1')
    for (const password of [encodeURIComponent('Schlüssel 鍵'), utf8]) {
      expect((await chats.say(identifier, { input: 'Hi' }, { 'x-chat-password': password })).status).toBe(200)
    }
    const escaped = await chats.chat({ access: 'password', password: '50%20off' })
    for (const password of ['50%20off', '50%2520off']) {
      expect((await chats.say(escaped, { input: 'Hi' }, { 'x-chat-password': password })).status).toBe(200)
    }
    expect((await chats.say(escaped, { input: 'Hi' }, { 'x-chat-password': '50 off' })).status).toBe(401)
  })

  test('by password: no caller while the variable of the password is not set', async () => {
    const identifier = await chats.chat({ access: 'password', password: '{{NOT_SET}}' })
    expect((await chats.say(identifier, { input: 'Hi' }, { 'x-chat-password': '{{NOT_SET}}' })).status).toBe(401)
  })
})
