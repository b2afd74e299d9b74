import { describe, expect, test } from 'bun:test'
import { api } from '../../../../src/blocks/api.ts'
import type { BlockContext } from '../../../../src/engine/block.ts'
import { ManualClock } from '../../../support/clock.ts'
import { hanging, httpPeer, outboundOf, RawPeer, respondingWith, until } from '../../../support/outbound/peers.ts'
import { makeContext, runBlock } from '../context.ts'

type Seen = { method: string; key: string | null; body: string }

/** A service that sends the given responses in order, and then repeats the last one. */
function service(...responses: (number | (() => Response))[]) {
  const seen: Seen[] = []
  const peer = httpPeer(async (request) => {
    seen.push({ method: request.method, key: request.headers.get('idempotency-key'), body: await request.text() })
    const response = responses[Math.min(seen.length, responses.length) - 1]!
    return typeof response === 'number' ? Response.json({ n: seen.length }, { status: response }) : response()
  })
  return {
    seen,
    url: `http://127.0.0.1:${peer.port}/path?key=query-secret`,
    [Symbol.dispose]: () => void peer.stop(true),
  }
}

/** Runs the block and moves the clock to the end of each delay. Returns the delays. */
async function run(params: Record<string, unknown>, overrides: Partial<BlockContext> = {}) {
  const clock = new ManualClock(Date.UTC(2030, 0, 1))
  using context = makeContext({ clock, ...overrides })
  const delays: number[] = []
  let over = false
  const result = runBlock(api, params, context).finally(() => {
    over = true
  })
  while (!over) {
    await Promise.race([clock.whenPending(), result])
    const delayMs = clock.nextInMs
    if (delayMs === undefined) continue
    delays.push(delayMs)
    clock.advance(delayMs)
  }
  return { ...(await result), delays, attempts: context.notes.attempts }
}

describe('attempts', () => {
  test.each([429, 500, 502, 503, 504, 599])(
    'go on after %d, with doubling delays, until there is a response',
    async (status) => {
      using peer = service(status, status, status, 200)
      const { outputs, error, delays, attempts } = await run({ url: peer.url })
      expect(outputs).toMatchObject({ data: { n: 4 }, status: 200, error: null })
      expect(error).toBeUndefined()
      expect(delays).toEqual([500, 1000, 2000])
      expect(attempts.map(({ number, status: of }) => [number, of])).toEqual([
        [1, status],
        [2, status],
        [3, status],
        [4, 200],
      ])
      expect(attempts.map(({ error: of }) => of !== undefined)).toEqual([true, true, true, false])
      expect(attempts.map(({ startTime }) => startTime - Date.UTC(2030, 0, 1))).toEqual([0, 500, 1500, 3500])
    },
  )

  test('end with the last failure and all four outputs', async () => {
    using peer = service(503)
    const { outputs, error, delays, attempts } = await run({ url: peer.url, retries: 2 })
    expect(error).toEqual({
      code: 'HTTP_ERROR',
      message: expect.stringContaining('returned the status 503'),
      attempts: 3,
    })
    expect(outputs).toEqual({
      data: { n: 3 },
      status: 503,
      headers: expect.objectContaining({ 'content-type': expect.any(String) }),
      error,
    })
    expect([delays.length, attempts.length, peer.seen.length]).toEqual([2, 3, 3])
    expect(JSON.stringify([error, attempts])).not.toContain('query-secret')
  })

  test.each([400, 401, 403, 404, 409, 410, 422, 451])('end at once after %d', async (status) => {
    using peer = service(status, 200)
    const { outputs, error, delays } = await run({ url: peer.url })
    expect(error).toMatchObject({ code: 'HTTP_ERROR', attempts: 1 })
    expect(outputs).toMatchObject({ data: { n: 1 }, status, error })
    expect(delays).toEqual([])
  })

  test('are one when `retries` is 0, and eleven when it is 10', async () => {
    using peer = service(500)
    expect((await run({ url: peer.url, retries: 0 })).attempts.length).toBe(1)
    const { delays, attempts } = await run({ url: peer.url, retries: 10 })
    expect(attempts.length).toBe(11)
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000])
  })

  test('are delayed by a random share', async () => {
    using peer = service(500)
    expect((await run({ url: peer.url, retries: 1 }, { random: () => 0 })).delays).toEqual([400])
    const [delay] = (await run({ url: peer.url, retries: 1 }, { random: () => 0.999 })).delays
    expect(delay).toBeCloseTo(599.8, 3)
  })

  test('continue after a connection that was refused, was reset, or broke in the middle of the response', async () => {
    const { error, delays } = await run({ url: 'http://127.0.0.1:1/', retries: 1 })
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', attempts: 2 })
    expect(delays).toEqual([500])
    using resetting = await new RawPeer((socket, _piece, connection) => {
      if (connection === 0) socket.resetAndDestroy()
      else if (connection === 1) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
      else socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nwhole')
    }).listen()
    const { outputs, attempts } = await run({ url: resetting.url })
    expect(outputs).toMatchObject({ data: 'whole', status: 200, error: null })
    expect(attempts.map(({ status }) => status)).toEqual([undefined, 200, 200])
  })

  test('continue after a timeout, which applies to each attempt', async () => {
    using peer = await hanging()
    const { outputs, error, attempts } = await run({ url: peer.url, timeoutMs: 30, retries: 2 })
    expect(error).toMatchObject({ code: 'TIMEOUT', attempts: 3, message: expect.stringContaining('30 ms') })
    expect(outputs).toEqual({ data: null, status: null, headers: null, error })
    expect(attempts.length).toBe(3)
  })

  test.each([
    ['ADDRESS_REFUSED', { url: 'http://10.0.0.1/' }],
    ['ADDRESS_REFUSED', { url: 'http://169.254.169.254/latest/' }],
    ['INVALID_URL', { url: 'ftp://127.0.0.1/' }],
    ['INVALID_URL', { url: 'not a url' }],
    ['INVALID_REQUEST', { url: 'http://127.0.0.1:1/', headers: [{ key: 'X', value: 'a\r\nb' }] }],
    ['INVALID_REQUEST', { url: 'http://127.0.0.1:1/', headers: [{ key: 'X Y', value: 'a' }] }],
    ['NAME_NOT_FOUND', { url: 'http://no-such-name.invalid/' }],
  ])('are not repeated after %s', async (code, params) => {
    const { outputs, error, delays } = await run(params)
    expect(error).toMatchObject({ code, attempts: 1 })
    expect(outputs).toEqual({ data: null, status: null, headers: null, error })
    expect(delays).toEqual([])
  })

  test('are not repeated after too many redirects, or a response that is too large or malformed', async () => {
    using circle = httpPeer((_request, url) => Response.redirect(url.href))
    expect((await run({ url: `http://127.0.0.1:${circle.port}/` })).error).toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
      attempts: 1,
    })
    using large = httpPeer(
      () => new Response(new Uint8Array(10_485_761), { headers: { 'content-type': 'text/plain' } }),
    )
    const { outputs, error } = await run({ url: `http://127.0.0.1:${large.port}/` })
    expect(error).toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      attempts: 1,
      message: expect.stringContaining('10485760'),
    })
    expect(outputs).toMatchObject({ data: null, status: 200, headers: { 'content-type': 'text/plain' } })
    using broken = await respondingWith('HTTP/1.1 999 No\r\n\r\n')
    expect((await run({ url: broken.url })).error).toMatchObject({ code: 'INVALID_RESPONSE', attempts: 1 })
  })

  test('a response of exactly 10 MB is read', async () => {
    using large = httpPeer(() => new Response('a'.repeat(10_485_760)))
    const { outputs } = await run({ url: `http://127.0.0.1:${large.port}/` })
    expect((outputs['data'] as string).length).toBe(10_485_760)
  })
})

describe('Retry-After', () => {
  const asking = (value: string, status = 429) =>
    service(() => new Response('', { status, headers: { 'retry-after': value } }), 200)

  test('replaces a shorter delay, as seconds and as a date', async () => {
    for (const status of [429, 503, 500]) {
      using peer = asking('7', status)
      expect((await run({ url: peer.url })).delays).toEqual([7_000])
    }
    using peer = asking('Tue, 01 Jan 2030 00:00:20 GMT')
    expect((await run({ url: peer.url })).delays).toEqual([20_000])
    using most = asking('60')
    expect((await run({ url: most.url })).delays).toEqual([60_000])
  })

  test('does not replace a longer delay, and is ignored when it is invalid', async () => {
    for (const value of ['0', '0.1', 'Mon, 31 Dec 2029 23:00:00 GMT', 'soon', '-5']) {
      using peer = asking(value)
      expect((await run({ url: peer.url })).delays).toEqual([500])
    }
  })

  test('of more than a minute ends the attempts, with a note in the error', async () => {
    for (const value of ['61', 'Tue, 01 Jan 2030 00:01:01 GMT', '86400']) {
      using peer = asking(value)
      const { error, outputs, delays } = await run({ url: peer.url })
      expect(error).toMatchObject({
        code: 'HTTP_ERROR',
        attempts: 1,
        message: expect.stringMatching(/Retry-After is \d+ s/),
      })
      expect(outputs).toMatchObject({ status: 429, headers: { 'retry-after': value } })
      expect(delays).toEqual([])
    }
  })
})

describe('a request that is sent twice', () => {
  test.each(['POST', 'PATCH'])('carries the same key each time when it is a %s', async (method) => {
    using peer = service(500, 500, 200)
    await run({ url: peer.url, method, body: { a: 1 } })
    expect(peer.seen).toEqual(Array(3).fill({ method, key: 'key-of-b1', body: '{"a":1}' }))
  })

  test("has the author's key if there is one", async () => {
    using peer = service(500, 200)
    await run(
      { url: peer.url, method: 'POST', headers: [{ key: 'IDEMPOTENCY-key', value: 'mine' }] },
      {
        idempotencyKey: () => {
          throw new Error('A key was made')
        },
      },
    )
    expect(peer.seen.map(({ key }) => key)).toEqual(['mine', 'mine'])
  })

  test.each(['GET', 'PUT', 'DELETE'])('carries none when it is a %s', async (method) => {
    using peer = service(500, 200)
    await run({ url: peer.url, method })
    expect(peer.seen.map(({ key }) => key)).toEqual([null, null])
  })

  test('because a kept-alive connection was closed counts as one attempt', async () => {
    using peer = await new RawPeer((socket, piece, connection) => {
      if (connection === 0 && piece > 0) socket.destroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')
    }).listen()
    using outbound = outboundOf(['loopback'])
    await run({ url: peer.url }, { fetch: outbound.fetch })
    const { attempts, delays, outputs } = await run(
      { url: peer.url, method: 'POST', body: 1 },
      { fetch: outbound.fetch },
    )
    expect([attempts.length, delays.length, outputs['data']]).toEqual([1, 0, 'ok'])
    expect(peer.connections).toBe(2)
  })
})

describe('a run that ends', () => {
  test('aborts the request in flight', async () => {
    using peer = await hanging()
    const ending = new AbortController()
    using context = makeContext({ signal: ending.signal })
    const result = runBlock(api, { url: peer.url }, context)
    await until(() => peer.received[0] !== undefined)
    ending.abort()
    const { error } = await result
    expect(error).toMatchObject({ code: 'CANCELLED', attempts: 1 })
    expect(context.notes.attempts.length).toBe(1)
    await until(() => peer.open === 0)
  })

  test('ends the wait between two attempts, and leaves no timer', async () => {
    using peer = service(500)
    const clock = new ManualClock()
    const ending = new AbortController()
    using context = makeContext({ signal: ending.signal, clock })
    const result = runBlock(api, { url: peer.url }, context)
    await clock.whenPending()
    ending.abort()
    const { error, outputs } = await result
    expect(error).toMatchObject({ code: 'CANCELLED', attempts: 1 })
    expect(outputs['error']).toEqual(error)
    expect([clock.pending, peer.seen.length]).toEqual([0, 1])
  })
})
