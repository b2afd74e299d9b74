import { describe, expect, test } from 'bun:test'
import { createGzip } from 'node:zlib'
import { ManualClock } from '../../support/clock.ts'
import {
  hanging,
  httpPeer,
  outboundOf,
  RawPeer,
  requestTo,
  respondingWith,
  until,
} from '../../support/outbound/peers.ts'

const MB = 1_048_576

/** Gzip of zeros, which is a thousandth of their size. */
async function bombOf(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const gzip = createGzip({ level: 9 })
  const parts: Buffer[] = []
  gzip.on('data', (part: Buffer) => parts.push(part))
  const done = new Promise((resolve) => gzip.on('end', resolve))
  const zeros = Buffer.alloc(4 * MB)
  for (let sent = 0; sent < bytes; sent += zeros.byteLength)
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve))
  gzip.end()
  await done
  return new Uint8Array(Buffer.concat(parts))
}

describe('the size of a response', () => {
  test('may be exactly the limit and not one byte more, announced or not', async () => {
    using outbound = outboundOf(['loopback'])
    for (const heading of ['Content-Length: 1000', 'Connection: close']) {
      using peer = await respondingWith(`HTTP/1.1 200 OK\r\n${heading}\r\nX-A: b\r\n\r\n${'a'.repeat(1000)}`)
      expect(await outbound.fetch(requestTo(peer.url, { responseBytesMax: 1000 }))).toMatchObject({ ok: true })
      const outcome = await outbound.fetch(requestTo(peer.url, { responseBytesMax: 999 }))
      expect(outcome).toMatchObject({ ok: false, code: 'RESPONSE_TOO_LARGE', status: 200, headers: { 'x-a': 'b' } })
      expect(outcome).toMatchObject({ message: expect.stringContaining('999 bytes') })
    }
  })

  test('is counted after decompression, while it streams: a bomb of 600 MB costs no more than the limit', async () => {
    const bomb = await bombOf(600 * MB)
    expect(bomb.byteLength).toBeLessThan(MB)
    using peer = httpPeer(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }))
    using outbound = outboundOf(['loopback'])
    const url = `http://127.0.0.1:${peer.port}/`
    Bun.gc(true)
    let peak = process.memoryUsage.rss()
    const before = peak
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => outbound.fetch(requestTo(url))))
    clearInterval(watch)
    peak = Math.max(peak, process.memoryUsage.rss())
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ ok: false, code: 'RESPONSE_TOO_LARGE', status: 200 })
    expect((peak - before) / MB).toBeLessThan(150)
  })

  test('is also limited for an endless body, and the connection is closed', async () => {
    using peer = await new RawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const pour = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
      }
      socket.on('drain', pour)
      pour()
    }).listen()
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(peer.url))).toMatchObject({ ok: false, code: 'RESPONSE_TOO_LARGE' })
    await until(() => peer.open === 0)
  })
})

describe('the time of a request', () => {
  const slow: [what: string, start: string, drip: string][] = [
    ['says nothing', '', ''],
    ['drips its headers', 'HTTP/1.1 200 OK\r\nX: ', 'x'],
    ['sends interim responses without end', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['drips its body', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n', 'x'],
    ['drips chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ]
  test.each(slow)('is limited when a server %s', async (_what, start, drip) => {
    const clock = new ManualClock()
    let drips = 0
    using peer = await new RawPeer((socket) => {
      socket.write(start)
      const timer = setInterval(() => socket.write(drip, () => drips++), 1)
      socket.on('close', () => clearInterval(timer))
    }).listen()
    using outbound = outboundOf(['loopback'], { clock })
    const outcome = outbound.fetch(requestTo(peer.url, { timeoutMs: 7_000 }))
    await until(() => drips > 20)
    clock.advance(6_999)
    expect(clock.pending).toBe(1)
    clock.advance(1)
    expect(await outcome).toMatchObject({ ok: false, code: 'TIMEOUT', message: expect.stringContaining('7000 ms') })
    expect(clock.pending).toBe(0)
    await until(() => peer.open === 0)
  })

  test('includes all redirects', async () => {
    const clock = new ManualClock()
    using last = await hanging()
    using first = httpPeer(() => Response.redirect(last.url, 302))
    using outbound = outboundOf(['loopback'], { clock })
    const outcome = outbound.fetch(requestTo(`http://127.0.0.1:${first.port}/`, { timeoutMs: 1_000 }))
    await until(() => last.received[0] !== undefined)
    expect(clock.nextInMs).toBe(1_000)
    clock.advance(1_000)
    expect(await outcome).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('waited for a response') })
  })

  test('includes the wait for a slot and for the name, and the message names the cause', async () => {
    const clock = new ManualClock()
    using peer = await hanging()
    using outbound = outboundOf(['loopback'], {
      clock,
      concurrency: { total: 1, perOrigin: 1 },
      lookup: () => new Promise(() => {}),
    })
    const naming = outbound.fetch(requestTo('http://slow.example/', { timeoutMs: 2_000 }))
    const placing = outbound.fetch(requestTo(peer.url, { timeoutMs: 1_000 }))
    clock.advance(1_000)
    expect(await placing).toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('waited for a free slot'),
    })
    clock.advance(1_000)
    expect(await naming).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('waited for the address') })
    expect(peer.connections).toBe(0)
  })

  test('ends at once when the caller gives up, before, during and after the wait for a response', async () => {
    using peer = await hanging()
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(peer.url, { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'CANCELLED',
    })
    const giving = new AbortController()
    const outcome = outbound.fetch(requestTo(peer.url, { signal: giving.signal }))
    await until(() => peer.received[0] !== undefined)
    giving.abort(new Error('no more'))
    expect(await outcome).toMatchObject({ ok: false, code: 'CANCELLED' })
    await until(() => peer.open === 0)
    using half = await respondingWith('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', 'keep')
    const later = new AbortController()
    const begun = outbound.fetch(requestTo(half.url, { signal: later.signal }))
    await until(() => half.received[0] !== undefined)
    later.abort()
    expect(await begun).toMatchObject({ ok: false, code: 'CANCELLED' })
  })

  test('leaves no timer and no listener behind after a success', async () => {
    const clock = new ManualClock()
    using peer = httpPeer(() => new Response('ok'))
    using outbound = outboundOf(['loopback'], { clock })
    const { signal } = new AbortController()
    let listeners = 0
    const counting = new Proxy(signal, {
      get(target, name) {
        if (name === 'addEventListener') return () => listeners++
        if (name === 'removeEventListener') return () => listeners--
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    for (const url of [
      `http://127.0.0.1:${peer.port}/`,
      'http://10.0.0.1/',
      'nonsense',
      `http://localhost:${peer.port}/`,
    ])
      await outbound.fetch(requestTo(url, { signal: counting }))
    expect([clock.pending, listeners]).toEqual([0, 0])
  })
})

test('no slot is lost, whenever a request is cancelled', async () => {
  using peer = httpPeer(() => new Response('x'.repeat(100_000)))
  using outbound = outboundOf(['loopback'], { concurrency: { total: 1, perOrigin: 1 } })
  const url = `http://127.0.0.1:${peer.port}/`
  for (let turns = 0; turns < 120; turns++) {
    const giving = new AbortController()
    const outcomes = [outbound.fetch(requestTo(url, { signal: giving.signal })), outbound.fetch(requestTo(url))]
    for (let turn = 0; turn < turns % 12; turn++) await (turns % 2 ? Promise.resolve() : new Promise(setImmediate))
    giving.abort()
    const [given, other] = await Promise.all(outcomes)
    expect(given?.ok || given?.code === 'CANCELLED').toBe(true)
    expect(other).toMatchObject({ ok: true })
  }
})

test('a stop ends requests in flight and waiting ones, and none starts afterwards', async () => {
  using peer = await hanging()
  using outbound = outboundOf(['loopback'], { concurrency: { total: 1, perOrigin: 1 } })
  const outcomes = [outbound.fetch(requestTo(peer.url)), outbound.fetch(requestTo(peer.url))]
  await until(() => peer.received[0] !== undefined)
  outbound.stop()
  for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ code: 'CANCELLED' })
  expect(await outbound.fetch(requestTo(peer.url))).toMatchObject({ code: 'CANCELLED' })
  expect(peer.connections).toBe(1)
})

test('hosts that hang do not delay others: 300 requests wait for one host, and another one responds', async () => {
  using dead = await hanging()
  using alive = httpPeer(() => new Response('alive'))
  using outbound = outboundOf(['loopback'])
  const giving = new AbortController()
  const stuck = Array.from({ length: 300 }, () =>
    outbound.fetch(requestTo(`http://dead.localhost:${dead.port}/`, { signal: giving.signal })),
  )
  await until(() => dead.connections === 50)
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, () => outbound.fetch(requestTo(`http://alive.localhost:${alive.port}/`))),
  )
  expect(outcomes.every((outcome) => outcome.ok)).toBe(true)
  expect(dead.connections).toBe(50)
  giving.abort()
  expect((await Promise.all(stuck)).every((outcome) => !outcome.ok && outcome.code === 'CANCELLED')).toBe(true)
})

test('a response that waits for memory holds back no other request to its origin', async () => {
  using peer = httpPeer(() => new Response('x'.repeat(1_000)))
  using outbound = outboundOf(['loopback'], { concurrency: { perOrigin: 1 } })
  const url = `http://127.0.0.1:${peer.port}/`
  let hasRoom = false
  const asked = Promise.withResolvers<void>()
  const memory = {
    add() {},
    hasRoom() {
      asked.resolve()
      return hasRoom
    },
  }
  const waiting = outbound.fetch(requestTo(url, { memory }))
  await asked.promise
  expect(await outbound.fetch(requestTo(url))).toMatchObject({ ok: true })
  hasRoom = true
  expect(await waiting).toMatchObject({ ok: true })
  expect(outbound.load()).toEqual({ running: 0, waiting: 0 })
})
