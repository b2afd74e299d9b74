import { expect, test } from 'bun:test'
import { systemClock } from '../../src/domain/clock.ts'
import type { OutboundBody, OutboundOpen } from '../../src/domain/outbound-request.ts'
import { createLanguageModels } from '../../src/models/language-models.ts'
import { outboundOf, RawPeer } from '../outbound/peers.ts'

/** Gives all that comes of a body in the moment in which it ends. */
function inOneMoment(open: OutboundOpen): OutboundOpen {
  return async (request) => {
    const outcome = await open(request)
    if (!outcome.ok) return outcome
    const { body, ...head } = outcome.answer
    const each: OutboundBody['each'] = async (onPart) => {
      const parts: Uint8Array<ArrayBuffer>[] = []
      await body.each((part) => parts.push(part)).finally(() => parts.forEach(onPart))
    }
    return { ok: true, answer: { ...head, body: { each, close: () => body.close() } } }
  }
}

test('of an answer that breaks off the tokens count that it told before, also in the same moment', async () => {
  const usage = { input_tokens: 7, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const opening = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n'
  using peer = await new RawPeer((socket) => socket.end(head + opening)).listen()
  using outbound = outboundOf(['loopback'])
  const { call } = createLanguageModels({
    open: inOneMoment(outbound.open),
    clock: systemClock,
    answerBytesMax: 1_000_000,
  })
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
