import { expect, test } from 'bun:test'
import { systemClock } from '../../src/domain/clock.ts'
import { createLanguageModels } from '../../src/models/language-models.ts'
import { outboundOf, RawPeer } from '../outbound/peers.ts'

test('of an answer that breaks off the tokens count that it told before, also in the same moment', async () => {
  const usage = { input_tokens: 7, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const opening = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n'
  using peer = await new RawPeer((socket) => socket.end(head + opening)).listen()
  using outbound = outboundOf(['loopback'])
  const { call } = createLanguageModels({ open: outbound.open, clock: systemClock, answerBytesMax: 1_000_000 })
  const outcome = await call({
    provider: 'anthropic',
    model: 'm',
    baseUrl: peer.url,
    apiKey: 'k',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [],
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onText: () => undefined,
  })
  expect(outcome).toMatchObject({
    ok: false,
    failure: { code: 'CONNECTION_FAILED', mayPass: true },
    tokens: { prompt: 7 },
  })
})
