import { describe, expect, test } from 'bun:test'
import type { OutboundRequest, OutboundStream } from '../../../src/domain/outbound-request.ts'
import type { Outbound } from '../../../src/outbound/fetch.ts'
import { ManualClock } from '../../support/clock.ts'
import {
  eachOf,
  hanging,
  httpPeer,
  outboundOf,
  RawPeer,
  requestTo,
  respondingWith,
  until,
} from '../../support/outbound/peers.ts'
import { brokenResponses } from './broken-responses.ts'

const textOf = (body: Uint8Array<ArrayBuffer>) => new TextDecoder().decode(body)

/** Responses that fail before the body. The others break off later. */
const unbegun = brokenResponses.filter(([what]) => !/body that|chunks|gzip|brotli/.test(what))

describe('a body that is read as it arrives', () => {
  /** The whole text of a body, or the error code. */
  async function read({ body }: OutboundStream): Promise<string> {
    let text = ''
    try {
      await eachOf(body, (part) => {
        text += textOf(part)
      })
    } catch (error) {
      return (error as { code: string }).code
    }
    return text
  }

  async function open(outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}) {
    const outcome = await outbound.open(requestTo(url, more))
    if (!outcome.ok) throw new Error(outcome.message)
    return outcome.response
  }

  test('is requested like any other', async () => {
    using peer = await respondingWith(
      'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\n__proto__: p\r\nContent-Length: 2\r\n\r\nok',
    )
    using outbound = outboundOf(['loopback'])
    const response = await open(outbound, `http://user:pw@name.localhost.:${peer.port}/a%20b/../c d?q=ü#part`, {
      method: 'POST',
      headers: [
        ['X-Own', ' é '],
        ['Connection', 'x-hop'],
        ['X-Hop', 'evil'],
        ['Transfer-Encoding', 'evil'],
      ],
      body: 'ä',
    })
    const [head = '', body] = peer.received[0]!.split('\r\n\r\n')
    expect(head.toLowerCase().split('\r\n').toSorted()).toEqual([
      'accept-encoding: gzip, deflate, br, zstd',
      'accept: */*',
      `authorization: basic ${btoa('user:pw').toLowerCase()}`,
      'connection: keep-alive',
      'content-length: 2',
      `host: name.localhost:${peer.port}`,
      'post /c%20d?q=%c3%bc http/1.1',
      'user-agent: millrace/1.2.3',
      'x-own: é',
    ])
    expect(body).toBe('\xc3\xa4')
    expect(Object.entries(response.headers).toSorted()).toEqual([
      ['__proto__', 'p'],
      ['content-length', '2'],
      ['x-a', '1, 2'],
    ])
    expect(response.url).toBe(`http://name.localhost:${peer.port}/c%20d?q=%C3%BC`)
    expect(await read(response)).toBe('ok')
  })

  test('starts before it has ended', async () => {
    using peer = await new RawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n')
    }).listen()
    using outbound = outboundOf(['loopback'])
    const response = await open(outbound, peer.url)
    const first = Promise.withResolvers<string>()
    const reading = eachOf(response.body, (part) => first.resolve(textOf(part)))
    expect(await first.promise).toBe('first')
    response.body.close()
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' })
    await until(() => peer.open === 0)
    expect(await read(response)).toBe('CANCELLED')
  })

  test('reuses the connection of the previous one', async () => {
    using peer = await respondingWith('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'keep')
    using outbound = outboundOf(['loopback'])
    for (let n = 0; n < 5; n += 1) expect(await read(await open(outbound, peer.url))).toBe('ok')
    expect(peer.connections).toBe(1)
    outbound.stop()
    await until(() => peer.open === 0)
  })

  test('that arrived completely before it was read leaves a reusable connection', async () => {
    const bytes = 300_000
    const rest = 50_000
    const written = Promise.withResolvers<void>()
    using peer = await new RawPeer((socket, request) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes - rest)}`, () =>
        socket.write('x'.repeat(rest), () => {
          if (request === 0) written.resolve()
        }),
      )
    }).listen()
    using outbound = outboundOf(['loopback'])
    const first = await open(outbound, peer.url)
    await written.promise
    // Bytes that have arrived at the machine reach the program in the next turns.
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect((await read(first)).length).toBe(bytes)
    expect((await read(await open(outbound, peer.url))).length).toBe(bytes)
    expect(peer.connections).toBe(1)
  })

  test('that is compressed is decompressed', async () => {
    const text = 'hello '.repeat(10_000)
    using peer = httpPeer(() => new Response(Bun.gzipSync(text), { headers: { 'content-encoding': 'gzip' } }))
    using outbound = outboundOf(['loopback'])
    expect(await read(await open(outbound, `http://127.0.0.1:${peer.port}/`))).toBe(text)
  })

  test.each(unbegun)('does not start with %s', async (_what, bytes, code) => {
    using peer = await respondingWith(bytes)
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.open(requestTo(`${peer.url}path?key=secret`))
    const message = expect.stringContaining(`127.0.0.1:${peer.port}/path`)
    expect(outcome).toMatchObject({ ok: false, code, message })
    expect(JSON.stringify(outcome)).not.toContain('secret')
  })

  test('fails with the same codes as one that is read at once', async () => {
    using cut = await respondingWith('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc')
    using large = await respondingWith(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${'a'.repeat(100)}`)
    using mad = await respondingWith('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabcde\r\n')
    using outbound = outboundOf(['loopback'])
    const codeOf = async (url: string) => {
      const outcome = await outbound.open(requestTo(url, { responseBytesMax: 99 }))
      return outcome.ok ? await read(outcome.response) : outcome.code
    }
    expect(await codeOf(cut.url)).toBe('CONNECTION_FAILED')
    expect(await codeOf(large.url)).toBe('RESPONSE_TOO_LARGE')
    expect(await codeOf(mad.url)).toBe('INVALID_RESPONSE')
    await until(() => large.open === 0)
  })

  test('that is not read makes the peer wait, and arrives completely when it is read', async () => {
    const bytes = 50_000_000
    let taken = 0
    using peer = await new RawPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
      const piece = Buffer.alloc(100_000, 'x')
      const pour = () => {
        while (taken < bytes) {
          taken += piece.length
          if (!socket.write(piece)) return
        }
      }
      socket.on('drain', pour)
      pour()
    }).listen()
    using outbound = outboundOf(['loopback'])
    const response = await open(outbound, peer.url, { responseBytesMax: bytes })
    let before = -1
    while (before !== taken) {
      before = taken
      await Bun.sleep(50)
    }
    expect(taken).toBeLessThan(bytes)
    expect((await read(response)).length).toBe(bytes)
  })

  test('releases its slot when it is closed, read to its end, or not read until the deadline', async () => {
    using peer = await new RawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789')
    }).listen()
    const clock = new ManualClock()
    using outbound = outboundOf(['loopback'], { clock, concurrency: { total: 1, perOrigin: 1, waiting: 10 } })
    ;(await open(outbound, peer.url)).body.close()
    expect(await read(await open(outbound, peer.url))).toBe('0123456789')
    const left = await open(outbound, peer.url, { timeoutMs: 7_000 })
    const opening = open(outbound, peer.url)
    clock.advance(7_000)
    const next = await opening
    expect(await read(left)).toBe('TIMEOUT')
    expect(await read(next)).toBe('0123456789')
  })

  test('leaves no connection behind when the peer never completes the TLS handshake', async () => {
    using peer = await hanging()
    const clock = new ManualClock()
    using outbound = outboundOf(['loopback'], { clock })
    const opening = outbound.open(requestTo(`https://127.0.0.1:${peer.port}/`, { timeoutMs: 7_000 }))
    await until(() => peer.received[0] !== undefined && peer.received[0] !== '')
    clock.advance(7_000)
    expect(await opening).toMatchObject({ ok: false, code: 'TIMEOUT' })
    await until(() => peer.open === 0)
    expect(outbound.load()).toEqual({ running: 0, waiting: 0 })
  })

  test.each(['the caller', 'the deadline', 'the service'])('ends when %s ends it during a read', async (who) => {
    using peer = await new RawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    }).listen()
    const clock = new ManualClock()
    using outbound = outboundOf(['loopback'], { clock })
    const caller = new AbortController()
    const response = await open(outbound, peer.url, { signal: caller.signal, timeoutMs: 7_000 })
    const reading = read(response)
    if (who === 'the caller') caller.abort()
    else if (who === 'the deadline') clock.advance(7_000)
    else outbound.stop()
    expect(await reading).toBe(who === 'the deadline' ? 'TIMEOUT' : 'CANCELLED')
    await until(() => peer.open === 0)
    expect(clock.pending).toBe(0)
  })
})
