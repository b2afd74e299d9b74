import { describe, expect, test } from 'bun:test'
import { maze } from '../../support/outbound/maze.ts'
import { httpPeer, outboundOf, requestTo } from '../../support/outbound/peers.ts'

const secrets: [string, string][] = [
  ['Authorization', 'Bearer a'],
  ['Cookie', 'b=1'],
  ['X-API-Key', 'c'],
  ['Api-Key', 'd'],
  ['X-Auth-Token', 'e'],
  // Names that services invented for their credentials.
  ...[
    ...['PRIVATE-TOKEN', 'X-Vault-Token', 'Ocp-Apim-Subscription-Key', 'X-Functions-Key', 'X-Auth-Key'],
    ...['X-Gitlab-Token', 'Circle-Token', 'X-Figma-Token', 'DD-APPLICATION-KEY', 'X-Secret', 'Token', 'X-Token'],
    ...['X-Client-Secret', 'X-Rundeck-Auth', 'X-Signature', 'Referer', 'X-Anything'],
  ].map((name): [string, string] => [name, 'f']),
]
const harmless: [string, string][] = [
  ['Accept', 'text/x'],
  ['Accept-Language', 'de'],
  ['Content-Language', 'en'],
  ['User-Agent', 'tests'],
  ['Idempotency-Key', 'i'],
]

describe('a redirect', () => {
  const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']
  const kept = (method: string) => [method, method === 'GET' || method === 'HEAD' ? '' : 'payload']
  const cases = methods.flatMap((method) => [
    [301, method, method === 'POST' ? ['GET', ''] : kept(method)],
    [302, method, method === 'POST' ? ['GET', ''] : kept(method)],
    [303, method, method === 'HEAD' ? ['HEAD', ''] : ['GET', '']],
    [307, method, kept(method)],
    [308, method, kept(method)],
  ]) as [number, string, [string, string]][]

  test.each(cases)('with %d after %s continues as %p', async (status, method, [expected, body]) => {
    using peer = maze()
    using outbound = outboundOf(['loopback'])
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const request = requestTo(peer.through(status, '/200'), {
      method,
      headers: [['Content-Type', 'text/plain']],
      ...(hasBody ? { body: 'payload' } : {}),
    })
    const outcome = await outbound.fetch(request)
    expect(outcome).toMatchObject({ ok: true, response: { status: 200, url: `${peer.origin}/200` } })
    expect(peer.seen).toMatchObject([{ method }, { method: expected, path: '/200', body }])
    expect('content-type' in peer.seen[1]!.headers).toBe(expected === method)
  })

  test('to the same origin keeps every header, to another one only those that are known to be harmless', async () => {
    using here = maze('a.localhost')
    using there = maze('b.localhost')
    using outbound = outboundOf(['loopback'])
    const headers = [...secrets, ...harmless]
    await outbound.fetch(
      requestTo(here.through(302, here.through(307, there.through(301, `${here.origin}/200`))), { headers }),
    )
    const sent = (names: [string, string][]) =>
      Object.fromEntries(names.map(([name, value]) => [name.toLowerCase(), value]))
    expect(here.seen.map(({ path }) => path)).toEqual(['/302', '/307', '/200'])
    for (const seen of here.seen.slice(0, 2))
      expect(seen.headers).toMatchObject({ ...sent(secrets), ...sent(harmless) })
    for (const { headers: arrived } of [there.seen[0]!, here.seen[2]!]) {
      expect(arrived).toMatchObject(sent(harmless))
      for (const [name] of secrets) expect(arrived).not.toContainKey(name.toLowerCase())
    }
  })

  test.each(['port', 'host', 'scheme'])('to another %s leads to another origin', async (part) => {
    using here = maze('a.localhost')
    using there = maze(part === 'host' ? 'b.localhost' : 'a.localhost')
    using outbound = outboundOf(['loopback'])
    const location = part === 'scheme' ? `https://a.localhost:${here.origin.split(':')[2]}/200` : `${there.origin}/200`
    const outcome = await outbound.fetch(requestTo(here.through(302, location), { headers: secrets }))
    // No server speaks TLS there. The plain server must see no further request.
    if (part === 'scheme') return expect([outcome.ok, here.seen.length]).toEqual([false, 1])
    for (const [name] of secrets) expect(there.seen[0]!.headers).not.toContainKey(name.toLowerCase())
  })

  test('drops the credentials of the first URL across origins and uses its own', async () => {
    using here = maze('a.localhost')
    using there = maze('b.localhost')
    using outbound = outboundOf(['loopback'])
    const withUser = (url: string, user: string) => url.replace('//', `//${user}@`)
    const go = (url: string) => outbound.fetch(requestTo(withUser(url, 'first:pw')))
    const basic = (text: string) => `Basic ${btoa(text)}`
    const outcome = await go(here.through(302, '/200'))
    expect(outcome).toMatchObject({ response: { url: `${here.origin}/200` } })
    await go(here.through(302, `${there.origin}/200`))
    await go(here.through(302, withUser(`${there.origin}/200`, 'second')))
    expect(here.seen.map(({ headers }) => headers['authorization'])).toEqual(Array(4).fill(basic('first:pw')))
    expect(there.seen.map(({ headers }) => headers['authorization'])).toEqual([undefined, basic('second:')] as string[])
  })

  test('is the response when none is followed, when it has no location, or when its status is not a redirect', async () => {
    using peer = maze()
    using outbound = outboundOf(['loopback'])
    const first = await outbound.fetch(requestTo(peer.through(302, '/200'), { followRedirects: 0 }))
    expect(first).toMatchObject({ ok: true, response: { status: 302, headers: { location: '/200' } } })
    using bare = httpPeer(() => new Response('no place', { status: 302 }))
    expect(await outbound.fetch(requestTo(`http://127.0.0.1:${bare.port}/`))).toMatchObject({
      ok: true,
      response: { status: 302 },
    })
    expect(await outbound.fetch(requestTo(peer.through(304, '/200')))).toMatchObject({
      ok: true,
      response: { status: 304 },
    })
    expect(await outbound.fetch(requestTo(peer.through(300, '/200')))).toMatchObject({
      ok: true,
      response: { status: 300 },
    })
  })

  test('is followed as often as requested and not once more, also in a circle', async () => {
    using peer = maze()
    using outbound = outboundOf(['loopback'])
    const chain = (length: number) => {
      let url = '/200'
      for (let index = 0; index < length; index++) url = peer.through(302, url)
      return url
    }
    expect(await outbound.fetch(requestTo(chain(3), { followRedirects: 3 }))).toMatchObject({ ok: true })
    expect(await outbound.fetch(requestTo(chain(4), { followRedirects: 3 }))).toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
    })
    using circle = httpPeer((_request, url) => Response.redirect(url.href, 301))
    const outcome = await outbound.fetch(requestTo(`http://127.0.0.1:${circle.port}/`, { followRedirects: 5 }))
    expect(outcome).toMatchObject({ code: 'TOO_MANY_REDIRECTS', message: expect.stringContaining('5 redirects') })
  })

  test('to a refused address is refused in every spelling', async () => {
    using peer = maze('allowed.localhost')
    using secret = maze()
    using outbound = outboundOf([`allowed.localhost:${peer.origin.split(':')[2]}`])
    const port = secret.origin.split(':')[2]
    for (const place of [
      `${secret.origin}/200`,
      `//127.1:${port}/200`,
      `//2130706433:${port}/200`,
      `http:\\\\[::ffff:7f00:1]:${port}/200`,
      `http://169.254.169.254/200`,
    ]) {
      const outcome = await outbound.fetch(requestTo(peer.through(302, place)))
      expect([place, outcome]).toEqual([place, expect.objectContaining({ ok: false, code: 'ADDRESS_REFUSED' })])
    }
    expect(secret.seen).toEqual([])
  })

  test('to anything but http and https is refused', async () => {
    using peer = maze()
    using outbound = outboundOf(['loopback'])
    for (const place of [
      'file:///etc/passwd',
      'data:text/plain,hello',
      's3://bucket/key',
      'javascript:1',
      'ftp://127.0.0.1/',
      'http://',
      'http://[::1',
    ])
      expect([place, await outbound.fetch(requestTo(peer.through(302, place)))]).toEqual([
        place,
        expect.objectContaining({ code: 'INVALID_URL' }),
      ])
  })

  test('may be relative and contain UTF-8', async () => {
    using peer = httpPeer((_request, url) => {
      const to: Record<string, string> = {
        '/a/b': '../c?x=1',
        '/c': '//127.0.0.1:PORT/d'.replace('PORT', url.port),
        '/d': Buffer.from('/ü').toString('latin1'),
      }
      const location = to[url.pathname]
      return location
        ? new Response(null, { status: 302, headers: { location } })
        : new Response(decodeURIComponent(url.pathname))
    })
    using outbound = outboundOf(['loopback'])
    const outcome = await outbound.fetch(requestTo(`http://127.0.0.1:${peer.port}/a/b`))
    expect(outcome.ok && new TextDecoder().decode(outcome.response.body)).toBe('/ü')
  })

  test('repeats a body of any kind', async () => {
    using peer = maze()
    using outbound = outboundOf(['loopback'])
    const form = new FormData()
    form.append('field', 'value')
    for (const body of ['text', new Uint8Array(Buffer.from('text')), form]) {
      await outbound.fetch(requestTo(peer.through(307, peer.through(308, '/200')), { method: 'PUT', body }))
      const bodies = peer.seen.splice(0).map((seen) => seen.body)
      expect(bodies.length).toBe(3)
      for (const arrived of bodies) expect(arrived).toContain(body === form ? 'name="field"' : 'text')
    }
  })
})
