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

/** Asks a peer that answers with these bytes, and what was streamed of it. */
async function asked(answer: string) {
  using peer = await new RawPeer((socket) => socket.end(answer)).listen()
  using outbound = outboundOf(['loopback'])
  const { call } = createLanguageModels({ open: outbound.open, clock: systemClock, answerBytesMax: 1_000_000 })
  let streamed = ''
  const outcome = await call({
    provider: 'openai-compatible',
    model: 'm',
    baseUrl: `${peer.url}v1`,
    messages: [{ role: 'user', content: 'A secret question' }],
    tools: [],
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onText: (text) => {
      streamed += text
    },
  })
  return { outcome, streamed }
}

test('text arrives in its order, also when some of its events hold more than text', async () => {
  const deltas = [{ content: 'One ' }, { content: 'two ', refusal: '' }, { content: 'three ' }, { content: 'four' }]
  const events = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const { outcome, streamed } = await asked(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${stream}`)
  expect(streamed).toBe('One two three four')
  expect(outcome).toMatchObject({ ok: true, answer: { text: 'One two three four', finish: 'stop' } })
})

test.each([
  ['<html>bad gateway</html>', '<html>bad gateway</html>'],
  ['', 'no reason given'],
  [' ', 'no reason given'],
  ['{"error":{"message":"come back later"}}', 'come back later'],
])('an error whose answer is %j says that, and never what was asked', async (body, words) => {
  const { outcome } = await asked(`HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n${body}`)
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'HTTP_ERROR', status: 502, mayPass: true } })
  expect(outcome.ok ? '' : outcome.failure.message).toMatch(/^127\.0\.0\.1:\d+ answered 502: /)
  expect(outcome.ok ? '' : outcome.failure.message).toEndWith(`answered 502: ${words}`)
})

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
