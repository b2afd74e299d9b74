import { expect, test } from 'bun:test'
import { ManualClock } from '../../support/clock.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../support/models/model-server.ts'
import { outboundOf, until } from '../../support/outbound/peers.ts'
import { spansOf, World } from '../engine/world.ts'

/**
 * Asks a model whose responses fail, except for the last one. Advances the clock by hand: by `timeoutMs` when a request
 * has arrived, and by the pause before each retry.
 */
async function ask(script: readonly ScriptedResponse[], timeoutMs?: number) {
  await using server = await ModelServer.start(script)
  const params = {
    ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, userPrompt: 'Say hello' },
    ...{ retries: script.length - 1, ...(timeoutMs !== undefined && { timeoutMs }) },
  }
  const blocks = [block('in', 'api_trigger'), block('ask', 'agent', params)]
  const clock = new ManualClock()
  using outbound = outboundOf(['loopback'], { clock })
  const world = new World({ open: outbound.open, clock })
  const running = world.run(document({ blocks, edges: ['in > ask'] }))
  for (let asked = 1; asked < script.length; asked += 1) {
    await until(() => server.requests.length === asked)
    if (timeoutMs !== undefined) clock.advance(timeoutMs)
    // Two timers remain: the time limit of the run and the pause.
    await until(() => outbound.load().running === 0 && clock.pending === 2)
    clock.advance(clock.nextInMs!)
  }
  const { record } = await running
  await world.stop()
  const spans = spansOf(record.root)
  return { record, output: spans.get('ask')?.[0]?.output, attempts: spans.get('m')?.[0]?.attempts }
}

test('an agent retries after 429 and 500, and counts the response once', async () => {
  const script = [{ status: 429, headers: { 'retry-after': '0' } }, { status: 500 }, { text: ['ok'] }]
  const { record, output, attempts } = await ask(script)
  expect(output).toMatchObject({ content: 'ok', tokens: { total: 2 } })
  expect(record.cost.tokens.total).toBe(2)
  expect(attempts).toMatchObject([
    { number: 1, status: 429, error: expect.stringContaining('stand-in says 429') },
    { number: 2, status: 500 },
    { number: 3 },
  ])
})

test('an agent gives up on a silent model after its timeout, and retries', async () => {
  const script = [{ trouble: 'hang' as const }, { text: ['ok'] }]
  const { record, output, attempts } = await ask(script, 3_000)
  expect(record.failure).toBeNull()
  expect(output).toMatchObject({ content: 'ok' })
  expect(attempts?.[0]?.error).toMatch(/^After 3000 ms/)
})
