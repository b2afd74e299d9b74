import { describe, expect, spyOn, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { OutboundPost, OutboundPosted } from '../../../src/domain/outbound-request.ts'
import { WebhookClient, type WebhookClientOptions } from '../../../src/outbound/webhook-client.ts'
import { ManualClock } from '../../support/clock.ts'
import { allowList, hanging, httpPeer, RawPeer, respondingWith, until } from '../../support/outbound/peers.ts'

function clientOf(allow: readonly string[] = ['loopback'], more: Partial<WebhookClientOptions> = {}) {
  const client = new WebhookClient({ allow: allowList(allow), version: '1.2.3', ...more })
  return { post: client.post, stop: () => client.stop(), [Symbol.dispose]: () => client.stop() }
}

const message = (url: string, more: Partial<OutboundPost> = {}): OutboundPost => ({
  url,
  headers: [['X-Test', 'yes']],
  body: '{"é":1}',
  timeoutMs: 20_000,
  responseBytesMax: 2_048,
  signal: new AbortController().signal,
  ...more,
})

/**
 * Sends a message and waits until the client has read the beginning of the response, because `fetch` drops what arrives
 * together with the end of the connection.
 */
async function begun(send: () => Promise<OutboundPosted>): Promise<{ outcome: Promise<OutboundPosted> }> {
  const reading = spyOn(ReadableStream.prototype, 'getReader')
  const outcome = send()
  await until(() => reading.mock.calls.length > 0)
  reading.mockRestore()
  // The first read follows in the same turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  return { outcome }
}

const fine = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

describe('a webhook request', () => {
  test('arrives unchanged, with the name of its host', async () => {
    using client = clientOf()
    using peer = await respondingWith(fine, 'keep')
    const url = `http://user:pa%20ss@localhost:${peer.port}/a/b?c=d#e`
    expect(await client.post(message(url))).toMatchObject({ ok: true, status: 200, responseStart: Buffer.from('ok') })
    const [head, body] = peer.received[0]!.split('\r\n\r\n')
    const [start, ...headers] = head!.split('\r\n')
    expect(start).toBe('POST /a/b?c=d HTTP/1.1')
    expect(headers.toSorted()).toEqual([
      'Accept-Encoding: identity',
      'Accept: */*',
      `Authorization: Basic ${btoa('user:pa ss')}`,
      'Connection: keep-alive',
      'Content-Length: 8',
      `Host: localhost:${peer.port}`,
      'User-Agent: Millrace/1.2.3',
      'X-Test: yes',
    ])
    expect(Buffer.from(body!, 'latin1').toString()).toBe('{"é":1}')
  })

  test('of megabytes arrives completely, even if the receiver reads slowly', async () => {
    using client = clientOf()
    const body = JSON.stringify('é'.repeat(3_000_000))
    await using peer = httpPeer(async (request) => {
      await Bun.sleep(50)
      return new Response(String(Bun.hash(await request.text())))
    })
    const outcome = await client.post(message(peer.url.href, { body }))
    expect(outcome.ok && Buffer.from(outcome.responseStart).toString()).toBe(String(Bun.hash(body)))
  })

  test('reuses the connection of the previous one, and concurrent ones use several', async () => {
    using client = clientOf()
    let together = 1
    const waiting: Socket[] = []
    using peer = await new RawPeer((socket) => {
      waiting.push(socket)
      if (waiting.length === together) for (const one of waiting.splice(0)) one.write(fine)
    }).listen()
    for (let n = 0; n < 5; n += 1) expect(await client.post(message(peer.url))).toMatchObject({ ok: true })
    expect(peer.connections).toBe(1)
    together = 5
    const many = await Promise.all(Array.from({ length: 5 }, () => client.post(message(peer.url))))
    expect(many.every(({ ok }) => ok)).toBe(true)
    expect(peer.connections).toBe(5)
  })

  test('is resent at once when the receiver had closed the reused connection', async () => {
    using client = clientOf()
    // Takes the second request of its first connection and hangs up.
    using peer = await new RawPeer((socket, piece, connection) => {
      if (connection === 0 && piece > 0) socket.destroy()
      else socket.write(fine)
    }).listen()
    expect(await client.post(message(peer.url))).toMatchObject({ ok: true })
    expect(await client.post(message(peer.url))).toMatchObject({ ok: true, status: 200 })
    expect(peer.connections).toBe(2)
  })

  test('is not resent when a new connection breaks or a response had begun', async () => {
    using client = clientOf()
    using breaking = await new RawPeer((socket) => socket.destroy()).listen()
    expect(await client.post(message(breaking.url))).toMatchObject({ ok: false, code: 'CONNECTION_FAILED' })
    expect(breaking.connections).toBe(1)
    using half = await new RawPeer((socket, piece) => {
      if (piece === 0) socket.write(fine)
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
    }).listen()
    expect(await client.post(message(half.url))).toMatchObject({ ok: true })
    expect(await client.post(message(half.url))).toMatchObject({ ok: false, code: 'CONNECTION_FAILED' })
    expect(half.connections).toBe(1)
  })

  test('returns as soon as enough of the response has arrived, and closes the connection', async () => {
    using client = clientOf()
    using peer = await respondingWith(`HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n${'x'.repeat(5_000)}`, 'keep')
    const outcome = await client.post(message(peer.url))
    expect(outcome.ok && outcome.responseStart.length).toBe(2_048)
    await until(() => peer.open === 0)
  })

  test('is not redirected', async () => {
    using client = clientOf()
    using peer = await respondingWith('HTTP/1.1 307 Elsewhere\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n', 'keep')
    expect(await client.post(message(peer.url))).toMatchObject({ ok: true, status: 307 })
    expect(peer.received[0]!.match(/POST/g)).toHaveLength(1)
  })

  test('ends at its timeout, whatever the receiver does', async () => {
    using client = clientOf()
    using silent = await hanging()
    using slow = await new RawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')
    }).listen()
    const outcomes = await Promise.all([silent, slow].map((peer) => client.post(message(peer.url, { timeoutMs: 150 }))))
    expect(outcomes).toMatchObject([{ code: 'TIMEOUT' }, { code: 'TIMEOUT' }])
    await until(() => silent.open === 0 && slow.open === 0)
  })

  test('reports the status of a refusal, even if the rest of the response never arrives', async () => {
    using client = clientOf()
    const head = 'HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 10\r\n\r\nabc'
    using slow = await respondingWith(head, 'keep')
    const refused = { ok: true, status: 503, retryAfter: '7', responseStart: Buffer.from('abc') }
    const clock = new ManualClock()
    using timed = clientOf(['loopback'], { clock })
    const late = await begun(() => timed.post(message(slow.url)))
    clock.advance(20_000)
    expect(await late.outcome).toMatchObject(refused)
    const sockets: Socket[] = []
    using broken = await new RawPeer((socket) => {
      sockets.push(socket)
      socket.write(head)
    }).listen()
    const cut = await begun(() => client.post(message(broken.url)))
    sockets[0]!.destroy()
    expect(await cut.outcome).toMatchObject(refused)
    const caller = new AbortController()
    const sent = client.post(message(slow.url, { signal: caller.signal }))
    await until(() => (slow.received[1] ?? '') !== '')
    caller.abort()
    expect(await sent).toMatchObject({ code: 'CANCELLED' })
    await until(() => slow.open === 0)
  })

  test('ends when its caller gives up', async () => {
    using client = clientOf()
    using silent = await hanging()
    const caller = new AbortController()
    const sent = client.post(message(silent.url, { signal: caller.signal }))
    await until(() => silent.received[0] !== undefined && silent.received[0] !== '')
    caller.abort()
    expect(await sent).toMatchObject({ code: 'CANCELLED' })
  })

  test('goes to no refused address, whatever the name', async () => {
    using peer = await respondingWith(fine)
    using strict = clientOf([])
    const refused = { ok: false, code: 'ADDRESS_REFUSED' }
    expect(await strict.post(message(peer.url))).toMatchObject(refused)
    expect(await strict.post(message(`http://localhost:${peer.port}/`))).toMatchObject(refused)
    using rebound = clientOf([], { lookup: async () => ['127.0.0.1', '10.0.0.1'] })
    expect(await rebound.post(message(`http://example.org:${peer.port}/`))).toMatchObject(refused)
    expect(peer.connections).toBe(0)
  })

  test.each([
    ['file:///etc/passwd', 'INVALID_URL'],
    ['nonsense', 'INVALID_URL'],
  ])('to %s is refused', async (url, code) => {
    using client = clientOf()
    expect(await client.post(message(url))).toMatchObject({ ok: false, code })
  })

  test('names the host and port that refused the connection', async () => {
    using client = clientOf()
    const peer = await respondingWith(fine)
    const { url, port } = peer
    peer[Symbol.dispose]()
    const outcome = await client.post(message(url))
    expect(outcome).toMatchObject({
      ok: false,
      code: 'CONNECTION_FAILED',
      message: `127.0.0.1:${port} refused the connection`,
    })
  })

  test('tries the next address of a name when one refuses the connection', async () => {
    using peer = await respondingWith(fine)
    using client = clientOf(['loopback'], { lookup: async () => ['127.0.0.2', '127.0.0.1'] })
    expect(await client.post(message(`http://two.example:${peer.port}/`))).toMatchObject({ ok: true, status: 200 })
  })

  test('reports a response that is not HTTP', async () => {
    using client = clientOf()
    using peer = await respondingWith('SSH-2.0-OpenSSH_9.6\r\n\r\n', 'keep')
    expect(await client.post(message(peer.url))).toMatchObject({
      ok: false,
      code: 'INVALID_RESPONSE',
      message: expect.stringContaining(`${peer.url} sent a response that is not HTTP`),
    })
  })
})
