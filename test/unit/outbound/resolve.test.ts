import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../../src/domain/clock.ts'
import { type Lookup, resolve, sharedLookup, systemLookup } from '../../../src/outbound/resolve.ts'
import { ManualClock } from '../../support/clock.ts'
import { httpPeer, outboundOf, RawPeer, requestTo, until } from '../../support/outbound/peers.ts'
import { type NameAnswer, nameServer } from './name-server.ts'

const never = new AbortController().signal

describe('the addresses of a host', () => {
  const from = (lookup: Lookup) => (host: string) => resolve(host, { lookup, clock: systemClock }, never)
  const unasked = from(async (name) => {
    throw new Error(`${name} was asked for`)
  })

  test('are the host itself when it is an address', async () => {
    expect(await unasked('93.184.216.34')).toEqual(['93.184.216.34'])
    expect(await unasked('[2606:4700::1111]')).toEqual(['2606:4700::1111'])
    expect(await unasked('[::ffff:7f00:1]')).toEqual(['127.0.0.1'])
  })

  test('are those of this machine for localhost and its subdomains, without a lookup', async () => {
    for (const host of ['localhost', 'a.localhost', 'a.b.localhost'])
      expect(await unasked(host)).toEqual(['127.0.0.1', '::1'])
    await expect(unasked('notlocalhost')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  })

  test('are at most 16, each once and in one spelling, IPv4 first', async () => {
    const found = ['::1', '::FFFF:10.0.0.1', '10.0.0.1', '2001:DB8::1', 'fe80::1%eth0', 'nonsense', '10.0.0.2']
    expect(await from(async () => found)('x.example')).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      '::1',
      '2001:db8::1',
      'fe80::1',
    ])
    const many = Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`)
    expect((await from(async () => many)('x.example')).length).toBe(16)
  })

  test('are a permanent failure when the name has none', async () => {
    for (const none of [[], ['nonsense']])
      await expect(from(async () => none)('x.example')).rejects.toMatchObject({ code: 'NAME_NOT_FOUND' })
  })

  test('are looked up for at most ten seconds, and no longer than the caller waits', async () => {
    const clock = new ManualClock()
    const abort = new AbortController()
    const options = { lookup: () => new Promise<string[]>(() => {}), clock }
    const waiting = resolve('slow.example', options, never)
    const left = resolve('slow.example', options, abort.signal)
    abort.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    await expect(resolve('slow.example', options, abort.signal)).rejects.toThrow('left')
    expect(clock.pending).toBe(1)
    clock.advance(10_000)
    await expect(waiting).rejects.toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('slow.example') })
    expect(clock.pending).toBe(0)
  })
})

test('a name is looked up once a second for any number of requests, and again after a failure', async () => {
  const clock = new ManualClock()
  const asked: string[] = []
  const responses: PromiseWithResolvers<string[]>[] = []
  const lookup = sharedLookup((name) => {
    asked.push(name)
    responses.push(Promise.withResolvers())
    return responses.at(-1)!.promise
  }, clock)
  const [first, second, other] = [lookup('one.example'), lookup('one.example'), lookup('two.example')]
  expect(asked).toEqual(['one.example', 'two.example'])
  responses[0]!.resolve(['192.0.2.1'])
  responses[1]!.reject(new Error('SERVFAIL'))
  expect(await Promise.all([first, second])).toEqual([['192.0.2.1'], ['192.0.2.1']])
  expect(await other.catch(() => 'failed')).toBe('failed')
  clock.advance(999)
  expect(await lookup('one.example')).toEqual(['192.0.2.1'])
  void lookup('two.example')
  clock.advance(1)
  void lookup('one.example')
  expect(asked).toEqual(['one.example', 'two.example', 'two.example', 'one.example'])
})

describe('names at a real name server', () => {
  test('fail differently when they do not exist, have no address, or their server fails', async () => {
    const responses: Record<string, NameAnswer> = {
      'none.example': 'NXDOMAIN',
      'bare.example': [],
      'ill.example': 'SERVFAIL',
    }
    using _server = await nameServer((name, family) => responses[name] ?? (family === 4 ? ['127.0.0.1'] : []))
    using outbound = outboundOf(['loopback'])
    const codeOf = async (name: string) => {
      const outcome = await outbound.fetch(requestTo(`http://${name}/`))
      return outcome.ok ? 'ok' : outcome.code
    }
    expect(await codeOf('none.example')).toBe('NAME_NOT_FOUND')
    expect(await codeOf('bare.example')).toBe('NAME_NOT_FOUND')
    expect(await codeOf('ill.example')).toBe('CONNECTION_FAILED')
    expect(await systemLookup('there.example')).toEqual(['127.0.0.1'])
  })

  test('end at the deadline when the server never responds', async () => {
    using server = await nameServer(() => 'silence')
    const clock = new ManualClock()
    using outbound = outboundOf(['loopback'], { clock })
    const outcome = outbound.fetch(requestTo('http://silent.example/', { timeoutMs: 7_000 }))
    await until(() => server.asked.length > 0)
    clock.advance(7_000)
    expect(await outcome).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('waited for the address') })
  })
})

describe('a name that changes its address between the check and the connection', () => {
  /** Two servers on one port: one at an address that is allowed, one at an address that is not. */
  async function twoServers() {
    const secret = await new RawPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nsecret')).listen('127.0.0.1')
    const open = Bun.serve({ hostname: '127.0.0.2', port: secret.port, fetch: () => new Response('open') })
    const stop = () => {
      void open.stop(true)
      secret[Symbol.dispose]()
    }
    return { secret, port: secret.port, [Symbol.dispose]: stop }
  }

  test('is looked up once, and the connection goes to the checked address', async () => {
    using servers = await twoServers()
    let asked = 0
    using names = await nameServer((name, family) => {
      if (name !== 'rebinding.example' || family === 6) return []
      return asked++ % 2 === 0 ? ['127.0.0.2'] : ['127.0.0.1']
    })
    using outbound = outboundOf(['127.0.0.2/32'])
    const url = `http://rebinding.example:${servers.port}/`
    const outcome = await outbound.fetch(requestTo(url))
    expect(outcome.ok && new TextDecoder().decode(outcome.response.body)).toBe('open')
    expect(names.asked.filter((name) => name === 'rebinding.example').length).toBe(1)
    // The next look-up has the other address: the name was fine a moment ago, and is refused now.
    expect(await outbound.fetch(requestTo(url))).toMatchObject({ ok: false, code: 'ADDRESS_REFUSED' })
    expect(servers.secret.connections).toBe(0)
  })

  test('is checked again at every redirect', async () => {
    using servers = await twoServers()
    const responses = [['127.0.0.2'], ['127.0.0.1']]
    let asked = 0
    using outbound = outboundOf(['127.0.0.2/32'], { lookup: async () => responses[asked++]! })
    using first = Bun.serve({
      hostname: '127.0.0.2',
      port: 0,
      fetch: () => Response.redirect(`http://rebinding.example:${servers.port}/`),
    })
    const outcome = await outbound.fetch(requestTo(`http://rebinding.example:${first.port}/`))
    expect(outcome).toMatchObject({ ok: false, code: 'ADDRESS_REFUSED' })
    expect([asked, servers.secret.connections]).toEqual([2, 0])
  })

  test('is called only at its allowed address when it has both kinds', async () => {
    using servers = await twoServers()
    for (const addresses of [
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
    ]) {
      using outbound = outboundOf(['127.0.0.2/32'], { lookup: async () => addresses })
      const outcome = await outbound.fetch(requestTo(`http://both.example:${servers.port}/`))
      expect(outcome.ok && new TextDecoder().decode(outcome.response.body)).toBe('open')
    }
    expect(servers.secret.connections).toBe(0)
  })
})

test('the next address is tried when one refuses the connection, and the request arrives once', async () => {
  let arrived = 0
  using peer = httpPeer(() => new Response(`${++arrived}`), '127.0.0.3')
  using outbound = outboundOf(['loopback'], { lookup: async () => ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1'] })
  const outcome = await outbound.fetch(requestTo(`http://several.example:${peer.port}/`, { method: 'POST', body: 'x' }))
  expect(outcome).toMatchObject({ ok: true })
  expect(arrived).toBe(1)
})

test('the next address is not tried after a connection was made, because the request may have arrived', async () => {
  using first = await new RawPeer((socket) => socket.resetAndDestroy()).listen('127.0.0.1')
  let arrived = 0
  using _second = Bun.serve({ hostname: '127.0.0.2', port: first.port, fetch: () => new Response(`${++arrived}`) })
  using outbound = outboundOf(['loopback'], { lookup: async () => ['127.0.0.1', '127.0.0.2'] })
  const outcome = await outbound.fetch(
    requestTo(`http://several.example:${first.port}/`, { method: 'POST', body: 'x' }),
  )
  expect(outcome).toMatchObject({ ok: false, code: 'CONNECTION_FAILED' })
  expect([first.connections, arrived]).toEqual([1, 0])
})
