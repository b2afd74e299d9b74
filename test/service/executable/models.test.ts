import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'

test('the executable calls language models with its built-in providers, and reads the price file', async () => {
  using folder = temporaryFolder()
  const prices = join(folder.path, 'prices.json')
  writeFileSync(prices, '{"stand-in": {"input": 1, "output": 2}}')
  for (const provider of ['openai', 'anthropic', 'google', 'openai-compatible']) {
    await using server = await ModelServer.start([{ text: ['{"n"', ':1}'], usage: { prompt: 10, completion: 5 } }])
    const file = join(folder.path, 'ask.json')
    const params = { provider, model: 'stand-in', baseUrl: server.url, apiKey: 'k', userPrompt: 'Hi' }
    const format = provider === 'anthropic' ? {} : { responseFormat: { type: 'object', required: ['n'] } }
    const blocks = [block('in', 'api_trigger'), block('ask', 'agent', { ...params, ...format })]
    writeFileSync(file, JSON.stringify(document({ blocks, edges: ['in > ask'] })))
    const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_MODEL_PRICES: prices }
    const { code, out, words } = await millrace(['run', file, '--json'], { environment })
    expect({ provider, code }).toEqual({ provider, code: 0 })
    expect(words).toMatch(/^warning: The API key of "ask" is written in the document.*\n$/)
    const content = provider === 'anthropic' ? '{"n":1}' : { n: 1 }
    expect(JSON.parse(out)).toMatchObject({ output: { content, cost: { total: 0.00002 } } })
  }
  writeFileSync(prices, '{"stand-in": {"input": "much"}}')
  const wrong = await millrace(['serve', '--model-prices', prices, '--data', join(folder.path, 'data'), '--port', '0'])
  expect(wrong.code).toBe(2)
  expect(wrong.words).toMatch(/MILLRACE_MODEL_PRICES.*stand-in.output is missing/)
})
