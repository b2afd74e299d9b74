import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { ManualClock } from '../../support/clock.ts'
import { outboundOf, RawPeer, requestTo, respondingWith } from '../../support/outbound/peers.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Responds to the first request of each connection and closes it in the given way when another one comes. */
const forgetful = (close: (socket: Socket) => void) =>
  new RawPeer((socket, piece, connection) =>
    connection === 0 && piece > 0 ? close(socket) : socket.write(ok),
  ).listen()

describe('a connection', () => {
  test('is reused by the next request', async () => {
    using peer = await respondingWith(ok, 'keep')
    using outbound = outboundOf(['loopback'])
    for (let index = 0; index < 5; index++) await outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x' }))
    expect(peer.connections).toBe(1)
  })

  test('is not shared between two clients, and is closed when its client stops', async () => {
    using peer = await respondingWith(ok, 'keep')
    using other = outboundOf(['loopback'])
    const outbound = outboundOf(['loopback'])
    await outbound.fetch(requestTo(peer.url))
    await other.fetch(requestTo(peer.url))
    expect(peer.connections).toBe(2)
    outbound.stop()
    while (peer.open > 1) await new Promise((resolve) => setImmediate(resolve))
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'that the peer had closed is not a failure: %s is resent at once',
    async (method) => {
      for (const close of [
        (socket: Socket) => socket.destroy(),
        (socket: Socket) => socket.resetAndDestroy(),
        (socket: Socket) => socket.end(),
      ]) {
        using peer = await forgetful(close)
        using outbound = outboundOf(['loopback'])
        await outbound.fetch(requestTo(peer.url))
        const outcome = await outbound.fetch(
          requestTo(peer.url, { method, ...(method === 'GET' ? {} : { body: 'payload' }) }),
        )
        expect(outcome).toMatchObject({ ok: true, response: { status: 200 } })
        expect(peer.connections).toBe(2)
        expect(peer.received[1]).toStartWith(`${method} / HTTP/1.1`)
        if (method !== 'GET') expect(peer.received[1]).toEndWith('payload')
      }
    },
  )

  test('that the peer had closed is replaced by a new one, and not by another idle one', async () => {
    const waiting: Socket[] = []
    using peer = await new RawPeer((socket, piece, connection) => {
      if (connection < 4 && piece > 0) {
        socket.destroy()
        return
      }
      // The first four get their responses together, so that each has a connection of its own.
      waiting.push(socket)
      if (connection >= 3) for (const one of waiting.splice(0)) one.write(ok)
    }).listen()
    using outbound = outboundOf(['loopback'])
    await Promise.all(Array.from({ length: 4 }, () => outbound.fetch(requestTo(peer.url))))
    expect(peer.connections).toBe(4)
    expect(await outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x' }))).toMatchObject({ ok: true })
    expect(peer.connections).toBe(5)
  })

  test('that was new and is reset is a failure, because the request may have arrived', async () => {
    using peer = await new RawPeer((socket) => socket.resetAndDestroy()).listen()
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x' }))).toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    expect(peer.connections).toBe(1)
  })

  test('that is new is not mistaken for a reused one', async () => {
    using peer = await new RawPeer((socket, piece, connection) => {
      if (connection === 0 && piece === 0) socket.write(ok)
      else socket.destroy()
    }).listen()
    using outbound = outboundOf(['loopback'])
    const post = () => outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x' }))
    await post()
    // Once over the idle connection, and once over a new one.
    await post()
    expect(peer.connections).toBe(2)
    expect(await post()).toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(peer.connections).toBe(3)
  })

  test('that is reset long after a request was sent is a failure, because the peer had received it', async () => {
    const clock = new ManualClock()
    using peer = await forgetful((socket) => {
      clock.advance(5_000)
      socket.resetAndDestroy()
    })
    using outbound = outboundOf(['loopback'], { clock })
    await outbound.fetch(requestTo(peer.url))
    const outcome = await outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x', timeoutMs: 60_000 }))
    expect(outcome).toMatchObject({ code: 'CONNECTION_FAILED' })
    expect(peer.connections).toBe(1)
  })

  test('is resent only once', async () => {
    using peer = await new RawPeer((socket, piece, connection) => {
      if (connection === 0 && piece === 0) socket.write(ok)
      else socket.resetAndDestroy()
    }).listen()
    using outbound = outboundOf(['loopback'])
    await outbound.fetch(requestTo(peer.url))
    expect(await outbound.fetch(requestTo(peer.url, { method: 'POST', body: 'x' }))).toMatchObject({
      code: 'CONNECTION_FAILED',
    })
    expect(peer.connections).toBe(2)
  })

  test('that is refused is a failure that names the host and port', async () => {
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.fetch(requestTo('http://user:pw@name.localhost:1/path'))
    expect(outcome).toEqual({
      ok: false,
      code: 'CONNECTION_FAILED',
      message: 'name.localhost:1 refused the connection',
    })
  })
})
