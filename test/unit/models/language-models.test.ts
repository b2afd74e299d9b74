import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { Clock } from '../../../src/domain/clock.ts'
import type { OutboundOpen } from '../../../src/domain/outbound-request.ts'
import { createLanguageModels } from '../../../src/models/language-models.ts'
import { ManualClock } from '../../support/clock.ts'
import { eachOf, outboundOf, RawPeer, respondingWith, until } from '../../support/outbound/peers.ts'

/** Delivers a whole body in the moment in which it ends. */
function inOneMoment(open: OutboundOpen): OutboundOpen {
  return async (request) => {
    const outcome = await open(request)
    if (!outcome.ok) return outcome
    const { body, ...head } = outcome.response
    let parts: Uint8Array<ArrayBuffer>[] | undefined
    let error: { thrown: unknown } | undefined
    const read = async () => {
      if (!parts) {
        parts = []
        await eachOf(body, (part) => parts?.push(part)).catch((thrown: unknown) => {
          error = { thrown }
        })
      }
      const part = parts.shift()
      if (!part && error) throw error.thrown
      return part
    }
    return { ok: true, response: { ...head, body: { read, close: () => body.close() } } }
  }
}

/**
 * A peer that sends these bytes and breaks the connection after the client has read them, because `fetch` drops what
 * arrives together with the end.
 */
async function breaking(bytes: string): Promise<{ url: string; open: OutboundOpen } & Disposable> {
  let connection: Socket | undefined
  const peer = await new RawPeer((socket) => {
    connection = socket
    socket.write(bytes)
  }).listen()
  const outbound = outboundOf(['loopback'])
  const open: OutboundOpen = async (request) => {
    const outcome = await outbound.open(request)
    if (!outcome.ok) return outcome
    const { body, ...head } = outcome.response
    const read = async () => {
      const part = await body.read()
      connection?.destroy()
      return part
    }
    return { ok: true, response: { ...head, body: { read, close: () => body.close() } } }
  }
  const dispose = () => {
    outbound.stop()
    peer[Symbol.dispose]()
  }
  return { url: peer.url, open, [Symbol.dispose]: dispose }
}

/**
 * Calls a peer that sends these bytes, and collects the streamed text. `then`: what the peer does with the connection.
 */
async function asked(response: string, then: 'end' | 'keep' = 'end') {
  using peer = await respondingWith(response, then)
  using outbound = outboundOf(['loopback'])
  const clock = new ManualClock()
  let streamed = ''
  // The time that the client gives the peer to end the response.
  if (then === 'keep') void clock.whenPending().then(() => clock.advance(1_000))
  const onText = (text: string) => {
    streamed += text
  }
  const outcome = await outcomeOf(outbound.open, `${peer.url}v1`, { clock, onText })
  // The client closes a connection that it cannot reuse, although the peer keeps it open.
  if (then === 'keep') await until(() => peer.open === 0)
  return { outcome, streamed }
}

function outcomeOf(
  open: OutboundOpen,
  baseUrl: string,
  { clock = new ManualClock(), onText = () => undefined }: { clock?: Clock; onText?(text: string): void } = {},
) {
  const { call } = createLanguageModels({ open, clock, responseBytesMax: 1_000_000 })
  return call({
    provider: 'openai-compatible',
    model: 'm',
    baseUrl,
    messages: [{ role: 'user', content: 'A secret question' }],
    tools: [],
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onText,
  })
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
const said = { choices: [{ index: 0, delta: { content: 'All of it' }, finish_reason: null }] }
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const spent = {
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } },
}
const counted = { prompt: 9, cached: 5, completion: 4 }

function streamOf(...events: (object | '[DONE]')[]): string {
  return events.map((event) => `data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`).join('')
}

/** One chunk of a chunked body. */
function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

test.each([
  ['and ends', `${head}\r\n${streamOf(said, finished, spent, '[DONE]')}`, 'end'],
  ['and its connection stays open', `${head}\r\n${streamOf(said, finished, spent, '[DONE]')}`, 'keep'],
  [
    'and it is never ended',
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(streamOf(said, finished, spent, '[DONE]'))}`,
    'keep',
  ],
  ['by its end alone', `${head}\r\n${streamOf(said, finished, spent)}`, 'end'],
  [
    'by its last chunk alone',
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(streamOf(said, finished, spent))}0\r\n\r\n`,
    'end',
  ],
] as const)('a response is complete when it says so %s', async (_, answer, then) => {
  const { outcome, streamed } = await asked(answer, then)
  expect(outcome).toMatchObject({ ok: true, response: { text: 'All of it', finish: 'stop' }, tokens: counted })
  expect(streamed).toBe('All of it')
})

test('the tokens of a response count even if the connection breaks right after them', async () => {
  const cut = `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(streamOf(said, finished, spent))}`
  using peer = await breaking(cut)
  const outcome = await outcomeOf(peer.open, `${peer.url}v1`)
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'CONNECTION_FAILED', mayPass: true }, tokens: counted })
})

test('a connection is reused when its response ends shortly after the last event', async () => {
  const answer = chunked(streamOf(said, finished, '[DONE]'))
  using peer = await new RawPeer((socket) => {
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${answer}`)
    setTimeout(() => socket.write('0\r\n\r\n'), 20)
  }).listen()
  using outbound = outboundOf(['loopback'])
  for (let asking = 0; asking < 3; asking += 1) {
    await outcomeOf(outbound.open, `${peer.url}v1`)
    await until(() => outbound.load().running === 0)
  }
  expect(peer.connections).toBe(1)
})

test('text arrives in order, even if some events contain more than text', async () => {
  const deltas = [{ content: 'One ' }, { content: 'two ', refusal: '' }, { content: 'three ' }, { content: 'four' }]
  const events = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const { outcome, streamed } = await asked(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${stream}`)
  expect(streamed).toBe('One two three four')
  expect(outcome).toMatchObject({ ok: true, response: { text: 'One two three four', finish: 'stop' } })
})

test.each([
  ['<html>bad gateway</html>', '<html>bad gateway</html>'],
  ['', 'no reason given'],
  [' ', 'no reason given'],
  ['{"error":{"message":"come back later"}}', 'come back later'],
])('an error shows the words of the response %j, and never the prompt', async (body, words) => {
  const { outcome } = await asked(`HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n${body}`)
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'HTTP_ERROR', status: 502, mayPass: true } })
  expect(outcome.ok ? '' : outcome.failure.message).toMatch(/^127\.0\.0\.1:\d+ responded with 502: /)
  expect(outcome.ok ? '' : outcome.failure.message).toEndWith(`responded with 502: ${words}`)
})

test('the tokens that a response reported count, even if it breaks off in the same moment', async () => {
  const usage = { input_tokens: 7, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  const opening = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message })}\n\n`
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n'
  using peer = await breaking(head + opening)
  const open = inOneMoment(peer.open)
  const { call } = createLanguageModels({ open, clock: new ManualClock(), responseBytesMax: 1_000_000 })
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
