import { describe, expect, test } from 'bun:test'
import { httpPeer, outboundOf, requestTo } from '../../support/outbound/peers.ts'
import { spellings } from './spellings.ts'

describe('an address of this machine', () => {
  test.each(spellings)('is refused by default in the spelling %p', async (host) => {
    using outbound = outboundOf([])
    let requests = 0
    using peer = httpPeer(() => {
      requests++
      return new Response('secret')
    }, '0.0.0.0')
    for (const url of [
      `http://${host}:${peer.port}/`,
      `http://user@${host}:${peer.port}/`,
      `HTTP:\\\\${host}:${peer.port}`,
    ]) {
      const outcome = await outbound.fetch(requestTo(url))
      expect(outcome).toMatchObject({ ok: false, code: 'ADDRESS_REFUSED' })
      if (outcome.ok) throw new Error('It was called')
      const [, entry] = /adds (\S+) to MILLRACE_OUTBOUND_ALLOW/.exec(outcome.message) ?? []
      expect(entry).toEndWith(`:${peer.port}`)
    }
    expect(requests).toBe(0)
  })

  test('is refused when a name resolves to it', async () => {
    using peer = httpPeer(() => new Response('secret'))
    const addresses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '64:ff9b::7f00:1', '::1%lo', 'fe80::1%eth0']
    const others = ['::ffff:0:7f00:1', '2002:7f00:1::', '2001:0:4136:e378:8000:63bf:80ff:fffe', '4000::1']
    for (const address of [...addresses, ...others]) {
      using outbound = outboundOf([], { lookup: async () => [address] })
      const outcome = await outbound.fetch(requestTo(`http://innocent.example:${peer.port}/`))
      expect(outcome).toMatchObject({ ok: false, code: 'ADDRESS_REFUSED' })
      expect(outcome).toMatchObject({
        message: expect.stringContaining(`adds innocent.example:${peer.port} to MILLRACE_OUTBOUND_ALLOW`),
      })
    }
  })

  test('is called in any spelling when the operator allows it', async () => {
    using peer = httpPeer(() => new Response('here'))
    using outbound = outboundOf(['loopback'])
    for (const host of ['127.0.0.1', '127.1', '2130706433', 'localhost', 'a.localhost.', '[::ffff:7f00:1]']) {
      const outcome = await outbound.fetch(requestTo(`http://${host}:${peer.port}/`))
      expect([host, outcome.ok && new TextDecoder().decode(outcome.response.body)]).toEqual([host, 'here'])
    }
    expect(await outbound.fetch(requestTo(`http://0.0.0.0:${peer.port}/`))).toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  test('is called when exactly its host and port are allowed', async () => {
    using peer = httpPeer(() => new Response('here'))
    using other = httpPeer(() => new Response('secret'))
    using outbound = outboundOf([`localhost:${peer.port}`])
    expect(await outbound.fetch(requestTo(`http://LOCALHOST.:${peer.port}/`))).toMatchObject({ ok: true })
    for (const host of [`127.0.0.1:${peer.port}`, `localhost:${other.port}`, `x.localhost:${peer.port}`])
      expect(await outbound.fetch(requestTo(`http://${host}/`))).toMatchObject({ code: 'ADDRESS_REFUSED' })
  })
})

describe('other addresses that are not public', () => {
  test.each([
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '224.0.0.1',
    '255.255.255.255',
    '0xa9fea9fe',
    '2852039166.',
    '0251.0376.0251.0376',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[2002:a00:1::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '[2001:db8::1]',
    '[2001:20::1]',
    '[3fff::1]',
    '[5f00::1]',
    '[4000::1]',
    '[fc00::1]',
  ])('%s is refused without a connection', async (host) => {
    using outbound = outboundOf(['loopback'])
    expect(await outbound.fetch(requestTo(`http://${host}/latest/meta-data/`))).toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
  })

  test('of a name with several addresses, only the allowed ones are called', async () => {
    using peer = httpPeer(() => new Response('the allowed one'))
    const addresses = ['10.255.255.1', '169.254.169.254', '127.0.0.1', 'fd00::1']
    using outbound = outboundOf(['loopback'], { lookup: async () => addresses })
    const outcome = await outbound.fetch(requestTo(`http://mixed.example:${peer.port}/`))
    expect(outcome).toMatchObject({ ok: true, response: { status: 200 } })
  })
})

test.each([
  '[::1%25lo]',
  '[::1%lo]',
  '[fe80::1%25eth0]',
  '[::ffff:127.0.0.1%251]',
  '[127.0.0.1]',
  '[::127.1]',
  '[::ffff:0x7f.1]',
  '127.0.0.256',
  '127.0.0.0.1',
  '0x100000000',
  '127.0.0.08',
  'xn--127-',
  'xn--localhost',
  'localhost\u0000',
])('the host %j, which is no valid host, is refused', async (host) => {
  using outbound = outboundOf(['loopback', 'private'])
  expect(await outbound.fetch(requestTo(`http://${host}/`))).toMatchObject({ ok: false, code: 'INVALID_URL' })
})

test('schemes that fetch serves by itself are refused', async () => {
  using outbound = outboundOf(['loopback', 'private'])
  for (const url of [
    `file://${import.meta.path}`,
    'file:///etc/passwd',
    'data:text/plain,x',
    's3://bucket/key',
    'blob:nodedata:1',
  ])
    expect(await outbound.fetch(requestTo(url))).toMatchObject({ ok: false, code: 'INVALID_URL' })
})

describe('the sample route of the service itself', () => {
  function service() {
    const called: string[] = []
    const peer = httpPeer((request, url) => {
      called.push(`${request.method} ${url.pathname}`)
      if (url.search === '?redirect') return Response.redirect('/health', 302)
      return new Response('fine')
    })
    const samples = { host: '127.0.0.1', port: peer.port!, paths: ['/sample/quotes'] }
    const outbound = outboundOf([], { samples })
    return {
      called,
      port: peer.port!,
      go: (url: string, method = 'GET') => outbound.fetch(requestTo(url, { method })),
      [Symbol.dispose]: () => {
        outbound.stop()
        peer.stop(true)
      },
    }
  }

  test('may be called in any spelling, also with a query', async () => {
    using sample = service()
    const base = `127.0.0.1:${sample.port}/sample`
    for (const url of [
      `http://${base}/quotes`,
      `http://${base}/quotes?q=1#x`,
      `http://${base}/x/../quotes`,
      `http://${base}/./%2e/quotes`,
    ])
      expect([url, await sample.go(url)]).toEqual([url, expect.objectContaining({ ok: true })])
    expect(new Set(sample.called)).toEqual(new Set(['GET /sample/quotes']))
  })

  test('is the only path of the service that may be called', async () => {
    using sample = service()
    const base = `http://127.0.0.1:${sample.port}`
    const others = [
      ...[
        '/',
        '/health',
        '/sample',
        '/sample/',
        '/sample/quotes/',
        '/sample/quotes/x',
        '/sample/quotesx',
        '/SAMPLE/QUOTES',
      ],
      ...[
        '/sample/../health',
        '/sample/quotes/../../health',
        '/sample/%2e%2e/health',
        '/sample/quotes/..%2f..%2fhealth',
      ],
      ...[
        '/sample/%71uotes',
        '/sample%2fquotes',
        '//sample/quotes',
        '/sample//quotes',
        '/sample/quotes;x',
        '/sample/quotes%20',
      ],
      ...['/sample/quotes%00', '/sample/quotes%3f', '/api/../sample/quotes%23', '\\sample\\..\\health'],
    ]
    for (const path of others)
      expect([path, await sample.go(base + path)]).toEqual([path, expect.objectContaining({ code: 'ADDRESS_REFUSED' })])
    expect(sample.called).toEqual([])
  })

  test('may be called only with its method, scheme, host and port', async () => {
    using sample = service()
    using other = httpPeer(() => new Response('secret'))
    const path = '/sample/quotes'
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])
      expect(await sample.go(`http://127.0.0.1:${sample.port}${path}`, method)).toMatchObject({
        code: 'ADDRESS_REFUSED',
      })
    const origins = [
      `http://127.0.0.1:${other.port}`,
      `https://127.0.0.1:${sample.port}`,
      `http://localhost:${sample.port}`,
      `http://127.0.0.2:${sample.port}`,
      `http://[::1]:${sample.port}`,
      `http://0.0.0.0:${sample.port}`,
      'http://127.0.0.1',
    ]
    for (const origin of origins) expect(await sample.go(origin + path)).toMatchObject({ code: 'ADDRESS_REFUSED' })
    expect(sample.called).toEqual([])
  })

  test('does not allow a redirect to another address', async () => {
    using sample = service()
    expect(await sample.go(`http://127.0.0.1:${sample.port}/sample/quotes?redirect`)).toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
    expect(sample.called).toEqual(['GET /sample/quotes'])
  })
})
