import { describe, expect, test } from 'bun:test'
import { readAssistantModel } from '../../../src/assistant/assistant-model.ts'
import { DailyTokens } from '../../../src/assistant/budget.ts'

describe('the model of the assistant', () => {
  test('is absent without a setting, whatever else is set', () => {
    expect(readAssistantModel({})).toEqual({ ok: true, model: undefined })
    expect(readAssistantModel({ assistantApiKey: 'key' })).toEqual({ ok: true, model: undefined })
  })

  test('needs a key, or the address of a server', () => {
    const missing = (settings: Parameters<typeof readAssistantModel>[0]) => {
      const reading = readAssistantModel(settings)
      return reading.ok ? undefined : /MILLRACE_ASSISTANT_(API_KEY|BASE_URL), too/.exec(reading.message)?.[1]
    }
    expect(missing({ assistantModel: 'openai/gpt-5' })).toBe('API_KEY')
    expect(missing({ assistantModel: 'openai-compatible/llama', assistantApiKey: 'key' })).toBe('BASE_URL')
  })

  test('may have slashes in its name', () => {
    const settings = { assistantModel: 'openai-compatible/meta/llama', assistantBaseUrl: 'http://127.0.0.1:1/v1/' }
    expect(readAssistantModel(settings)).toEqual({
      ok: true,
      model: { provider: 'openai-compatible', model: 'meta/llama', baseUrl: 'http://127.0.0.1:1/v1' },
    })
  })
})

test('the tokens of an account begin again on the next day', () => {
  let now = Date.UTC(2026, 0, 1, 23, 59)
  const tokens = new DailyTokens(100, () => now)
  tokens.add('a', 99)
  expect(tokens.isUsedUp('a')).toBe(false)
  tokens.add('a', 1)
  expect([tokens.isUsedUp('a'), tokens.isUsedUp('b')]).toEqual([true, false])
  now += 60_000
  expect(tokens.isUsedUp('a')).toBe(false)
})
