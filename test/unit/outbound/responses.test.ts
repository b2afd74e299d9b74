import { describe, expect, test } from 'bun:test'
import { httpPeer, outboundOf, requestTo, respondingWith } from '../../support/outbound/peers.ts'
import { brokenResponses } from './broken-responses.ts'

const textOf = (body: Uint8Array<ArrayBuffer>) => new TextDecoder().decode(body)

describe('a request', () => {
  test('arrives unchanged, with the host name of its URL', async () => {
    using peer = await respondingWith('HTTP/1.1 204 No Content\r\n\r\n', 'keep')
    using outbound = outboundOf(['loopback'])
    const url = `http://name.localhost.:${peer.port}/a%20b/../c d?q=ü&r=1#part`
    await outbound.fetch(requestTo(url, { method: 'PUT', headers: [['X-Own', ' value ']], body: 'ä' }))
    const [head = '', body] = peer.received[0]!.split('\r\n\r\n')
    expect(head).toStartWith('PUT /c%20d?q=%C3%BC&r=1 HTTP/1.1\r\n')
    expect(head).toContain(`\r\nHost: name.localhost:${peer.port}\r\n`)
    expect(head).toContain('\r\nX-Own: value\r\n')
    expect(head).toContain('\r\nUser-Agent: Millrace/1.2.3\r\n')
    expect(head).toMatch(/\r\nContent-Length: 2(\r\n|$)/)
    expect(body).toBe('\xc3\xa4')
  })

  test('loses headers about the connection or the framing of the body, and those that Connection names', async () => {
    using peer = await respondingWith('HTTP/1.1 204 No Content\r\n\r\n', 'keep')
    using outbound = outboundOf(['loopback'])
    const stripped = ['Host', 'Content-Length', 'Connection', 'Keep-Alive', 'Proxy-Authorization', 'Proxy-Connection']
    stripped.push('TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Expect', 'HTTP2-Settings', 'X-Hop')
    const headers = stripped.map((name) => [name, name === 'Connection' ? 'close, x-hop' : 'evil'] as const)
    await outbound.fetch(
      requestTo(peer.url, { method: 'POST', headers: [...headers, ['X-End', 'kept']], body: 'body' }),
    )
    expect(peer.received[0]).not.toContain('evil')
    expect(peer.received[0]).toContain(`\r\nHost: 127.0.0.1:${peer.port}\r\n`)
    expect(peer.received[0]).toContain('\r\nConnection: keep-alive\r\n')
    expect(peer.received[0]).toContain('\r\nX-End: kept\r\n')
    expect(peer.received[0]).toEndWith('\r\n\r\nbody')
  })

  test('sends its own User-Agent, repeated headers together, and Latin-1 values', async () => {
    using peer = await respondingWith('HTTP/1.1 204 No Content\r\n\r\n', 'keep')
    using outbound = outboundOf(['loopback'])
    const headers = [
      ['user-agent', 'mine'],
      ['X-List', 'a'],
      ['x-list', 'b'],
      ['Cookie', 'a=1'],
      ['Cookie', 'b=2'],
      ['X-L', 'é'],
    ] as const
    await outbound.fetch(requestTo(peer.url, { headers }))
    for (const line of ['User-Agent: mine', 'X-List: a, b', 'Cookie: a=1; b=2', 'X-L: \xe9'])
      expect(peer.received[0]).toContain(`\r\n${line}\r\n`)
  })

  test('with an invalid header or method fails without showing the value, and nothing is sent', async () => {
    using peer = await respondingWith('HTTP/1.1 204 No Content\r\n\r\n')
    using outbound = outboundOf(['loopback'])
    const failures: [name: string, value: string, message: string][] = [
      ['X-A', 'secret\r\nX-B: injected', 'The value of the header X-A contains a line break'],
      ['X-A', 'secret\nx', 'a line break'],
      ['X-A', 'secret\0', 'U+0000'],
      ['X-A', 'secret → there', 'U+2192'],
      ['X-A', 'secret 😀', 'U+1F600'],
      ['X-A', 'secret \ud83d', 'U+D83D'],
      ['X A', 'secret', '"X A" is not a valid HTTP header name'],
      ['X-A:', 'secret', 'not a valid HTTP header name'],
      ['X-A\r\nX-B', 'secret', 'not a valid HTTP header name'],
      ['', 'secret', 'not a valid HTTP header name'],
      ['Ключ', 'secret', 'not a valid HTTP header name'],
    ]
    for (const [name, value, message] of failures) {
      const outcome = await outbound.fetch(requestTo(peer.url, { headers: [[name, value]] }))
      expect(outcome).toMatchObject({ ok: false, code: 'INVALID_REQUEST', message: expect.stringContaining(message) })
      expect(JSON.stringify(outcome)).not.toContain('secret')
    }
    for (const method of ['', 'get', 'A B', 'GET\r\n', 'CONNECT', 'TRACE'])
      expect(await outbound.fetch(requestTo(peer.url, { method }))).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(await outbound.fetch(requestTo(peer.url, { body: 'x' }))).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(peer.connections).toBe(0)
  })

  test('with credentials in its URL sends them as a header, and no outcome contains them', async () => {
    using peer = httpPeer((request) => new Response(request.headers.get('authorization') + new URL(request.url).href))
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.fetch(requestTo(`http://user:hunter2@127.0.0.1:${peer.port}/`))
    if (!outcome.ok) throw new Error(outcome.message)
    expect(textOf(outcome.response.body)).toBe(`Basic ${btoa('user:hunter2')}http://127.0.0.1:${peer.port}/`)
    expect(outcome.response.url).toBe(`http://127.0.0.1:${peer.port}/`)
    const own = await outbound.fetch(
      requestTo(`http://user:hunter2@127.0.0.1:${peer.port}/`, { headers: [['authorization', 'Mine']] }),
    )
    expect(own.ok && textOf(own.response.body)).toStartWith('Mine')
    for (const url of [
      'http://user:hunter2@10.0.0.1/',
      'http://user:hunter2@127.0.0.1:1/',
      'http://user:hunter2@nope.invalid/',
      'ftp://user:hunter2@x/',
    ])
      expect(JSON.stringify(await outbound.fetch(requestTo(url)))).not.toContain('hunter2')
  })
})

describe('a response', () => {
  test('has lower-case headers, with repeated ones joined and cookies as a list', async () => {
    using peer = await respondingWith(
      'HTTP/1.1 201 Made\r\nX-A: 1\r\nx-a: 2\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2, c\r\n__proto__: p\r\nConstructor: c\r\nContent-Length: 2\r\n\r\nok',
    )
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.fetch(requestTo(peer.url))
    if (!outcome.ok) throw new Error(outcome.message)
    const { headers, status, body } = outcome.response
    expect([status, textOf(body)]).toEqual([201, 'ok'])
    expect(Object.entries(headers).toSorted()).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['content-length', '2'],
      ['set-cookie', ['a=1; Path=/', 'b=2, c']],
      ['x-a', '1, 2'],
    ])
  })

  test.each(['gzip', 'deflate', 'br', 'zstd'] as const)(
    'that is compressed with %s is decompressed',
    async (encoding) => {
      const { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } = await import('node:zlib')
      const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }[
        encoding
      ]
      using peer = httpPeer((request) => {
        const accepts = request.headers.get('accept-encoding')?.split(', ').includes(encoding)
        return accepts
          ? new Response(compress('hello'), { headers: { 'content-encoding': encoding } })
          : new Response('no')
      })
      using outbound = outboundOf(['loopback'])
      const outcome = await outbound.fetch(requestTo(`http://127.0.0.1:${peer.port}/`))
      expect(outcome.ok && textOf(outcome.response.body)).toBe('hello')
    },
  )

  test('with an error status is a response like any other', async () => {
    using peer = httpPeer((_request, url) => new Response('text', { status: Number(url.pathname.slice(1)) }))
    using outbound = outboundOf(['loopback'])
    for (const status of [400, 404, 429, 500, 503, 599])
      expect(await outbound.fetch(requestTo(`http://127.0.0.1:${peer.port}/${status}`))).toMatchObject({
        ok: true,
        response: { status },
      })
  })

  test('may be empty in every form', async () => {
    using outbound = outboundOf(['loopback'])
    const endings = [
      '204 No Content\r\n\r\n',
      '304 Not Modified\r\n\r\n',
      '200 OK\r\nContent-Length: 0\r\n\r\n',
      '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '200 OK\r\nConnection: close\r\n\r\n',
    ]
    for (const ending of endings) {
      using peer = await respondingWith(`HTTP/1.1 ${ending}`)
      const outcome = await outbound.fetch(requestTo(peer.url))
      expect([ending, outcome.ok && outcome.response.body.byteLength]).toEqual([ending, 0])
    }
    using peer = await respondingWith('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n')
    expect(await outbound.fetch(requestTo(peer.url, { method: 'HEAD' }))).toMatchObject({ ok: true })
  })

  test.each(brokenResponses)('with %s fails with a message of its own', async (_what, bytes, code) => {
    using peer = await respondingWith(bytes)
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.fetch(requestTo(`${peer.url}path?key=secret`))
    expect(outcome).toMatchObject({ ok: false, code, message: expect.stringContaining(`127.0.0.1:${peer.port}/path`) })
    expect(JSON.stringify(outcome)).not.toMatch(/secret|verbose|fetch\(\)/)
  })

  test('that breaks off still reports its status and headers', async () => {
    using peer = await respondingWith('HTTP/1.1 502 Bad\r\nX-A: b\r\nContent-Length: 100\r\n\r\nabc')
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(peer.url))).toMatchObject({
      ok: false,
      code: 'CONNECTION_FAILED',
      status: 502,
      headers: { 'x-a': 'b' },
    })
  })

  test('is found after any number of interim responses', async () => {
    using peer = await respondingWith(
      `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    )
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(peer.url))).toMatchObject({ ok: true, response: { status: 200 } })
  })
})
