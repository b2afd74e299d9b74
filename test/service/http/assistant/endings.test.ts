import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Assistant } from '../../../../src/assistant/assistant.ts'
import { replyLimits } from '../../../../src/assistant/budget.ts'
import type { ReplyEvent } from '../../../../src/assistant/reply.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import { createLanguageModels } from '../../../../src/models/language-models.ts'
import { parseAllowList } from '../../../../src/outbound/addresses.ts'
import { createOutbound, type Outbound } from '../../../../src/outbound/fetch.ts'
import { ManualClock } from '../../../support/clock.ts'
import { ModelServer } from '../../../support/models/model-server.ts'

// Replies that end before the model has responded.

let models: ModelServer
let outbound: Outbound
beforeAll(async () => {
  models = await ModelServer.start([{ trouble: 'hang' }])
  const allowed = parseAllowList(['loopback'])
  if (!allowed.ok) throw new Error(allowed.message)
  outbound = createOutbound({ allow: allowed.allow, version: 'test' })
})
afterAll(async () => {
  outbound?.stop()
  await models?.[Symbol.asyncDispose]()
})

function begin(clock: ManualClock) {
  const { call } = createLanguageModels({ open: outbound.open, clock: systemClock, responseBytesMax: 1_000_000 })
  const model = { provider: 'openai-compatible', model: 'x', baseUrl: models.url } as const
  const assistant = new Assistant({
    ...{ model, call, clock, priceOf: () => undefined, random: () => 0.5, tokensPerDay: 1_000 },
  })
  const events: ReplyEvent[] = []
  const { done } = assistant.reply('user', {
    ...{ workspaceId: 'w', tools: [], signal: new AbortController().signal, emit: (event) => events.push(event) },
    messages: [{ role: 'user', content: 'Hello' }],
  })
  return { assistant, events, done }
}

async function requests(count: number): Promise<void> {
  while (models.requests.length < count) await Bun.sleep(5)
}

test('a reply ends when its time is over', async () => {
  const clock = new ManualClock()
  const { events, done } = begin(clock)
  await requests(1)
  clock.advance(replyLimits.timeoutMs)
  await done
  expect(events).toEqual([expect.objectContaining({ event: 'failed', code: 'TIMEOUT' })])
  await models.requests[0]?.left
  expect(clock.pending).toBe(0)
})

test('a reply ends when the service stops, which waits for it', async () => {
  const { assistant, events } = begin(new ManualClock())
  await requests(2)
  await assistant.stop()
  expect(events).toEqual([expect.objectContaining({ event: 'failed', code: 'OVERLOADED' })])
  await models.requests[1]?.left
})
