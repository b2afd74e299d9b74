import { describe, expect, test } from 'bun:test'
import type { OutboundRequest } from '../../../src/domain/outbound-request.ts'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import { type Hop, hopTo, redirectOf, refuseSecretBody } from '../../../src/outbound/redirects.ts'
import { parseTarget } from '../../../src/outbound/target.ts'
import { maze } from '../../support/outbound/maze.ts'
import { outboundOf, requestTo } from '../../support/outbound/peers.ts'

const redactor = createRedactor([{ name: 'PASSWORD', value: 'hunter2-hunter2' }])

describe('a redirect', () => {
  test('to another origin drops a harmless header whose value contains a secret', async () => {
    using here = maze('a.localhost')
    using there = maze('b.localhost')
    using outbound = outboundOf(['loopback'])
    const headers: [string, string][] = [
      ['User-Agent', 'client hunter2-hunter2'],
      ['Accept-Language', 'de'],
    ]
    await outbound.fetch(requestTo(here.through(302, `${there.origin}/200`), { headers, redactor }))
    expect(there.seen[0]!.headers).toMatchObject({ 'accept-language': 'de' })
    expect(JSON.stringify(there.seen)).not.toContain('hunter2')
  })

  const form = (name: string, value: string | Blob) => {
    const data = new FormData()
    data.append('before', 'x')
    data.append(name, value)
    return data
  }
  const bodies: [string, OutboundRequest['body']][] = [
    ['a text', '{"key":"hunter2-hunter2"}'],
    ['a text with the secret in base64', btoa('user:hunter2-hunter2')],
    ['bytes', new TextEncoder().encode('key=hunter2-hunter2')],
    ['a file', new Blob(['hunter2-hunter2'])],
    ['a field of a form', form('field', 'hunter2-hunter2')],
    ['the name of a field', form('hunter2-hunter2', 'x')],
    ['a file of a form', form('field', new File(['hunter2-hunter2'], 'a.txt'))],
    ['the name of a file', form('field', new File(['x'], 'hunter2-hunter2'))],
  ]
  test.each(bodies)('that would carry %s with a secret to another origin is refused', async (_name, body) => {
    using here = maze('a.localhost')
    using there = maze('b.localhost')
    using outbound = outboundOf(['loopback'])
    for (const status of [307, 308]) {
      const request = requestTo(here.through(status, `${there.origin}/200`), { method: 'POST', body: body!, redactor })
      const outcome = await outbound.fetch(request)
      expect(outcome).toMatchObject({ ok: false, code: 'REDIRECT_REFUSED' })
      expect((outcome as { message: string }).message).toContain(`redirects to ${there.origin}`)
      expect((outcome as { message: string }).message).not.toContain('hunter2')
    }
    expect(there.seen).toEqual([])
    // The same origin, a redirect that drops the body, and a body without a secret are fine.
    const go = (url: string, sent = body) => outbound.fetch(requestTo(url, { method: 'POST', body: sent!, redactor }))
    expect(await go(here.through(307, '/200'))).toMatchObject({ ok: true })
    expect(await go(here.through(303, `${there.origin}/200`))).toMatchObject({ ok: true })
    expect(await go(here.through(307, `${there.origin}/200`), 'harmless')).toMatchObject({ ok: true })
    expect(there.seen).toMatchObject([{ body: '' }, { body: 'harmless' }])
  })

  test('of a PUT with a secret is refused for every status that keeps the body', async () => {
    using here = maze('a.localhost')
    using there = maze('b.localhost')
    using outbound = outboundOf(['loopback'])
    const options = { method: 'PUT', body: 'hunter2-hunter2', redactor }
    for (const status of [301, 302, 307, 308])
      expect(await outbound.fetch(requestTo(here.through(status, `${there.origin}/200`), options))).toMatchObject({
        code: 'REDIRECT_REFUSED',
      })
    expect(there.seen).toEqual([])
  })

  test('from http to https on the same host keeps headers and body; the way back does not', async () => {
    using plain = maze('a.localhost')
    using secure = maze('a.localhost')
    const target = (url: string) => parseTarget(url)
    const hop = (url: string): Hop =>
      hopTo(target(url), {
        method: 'POST',
        headers: new Headers({ 'PRIVATE-TOKEN': 'f', Authorization: 'Bearer a' }),
        body: 'hunter2-hunter2',
        redactor,
      })
    const httpsUrl = secure.origin.replace('http:', 'https:')
    const follow = (from: Hop, location: string) => redirectOf(from, { status: 307, headers: { location } })!
    const up = hop(plain.origin)
    const kept = follow(up, httpsUrl)
    expect(kept.headers.get('private-token')).toBe('f')
    await refuseSecretBody(up, kept)
    const down = hop(httpsUrl)
    const dropped = follow(down, plain.origin)
    expect([...dropped.headers.keys()]).toEqual([])
    expect(refuseSecretBody(down, dropped)).rejects.toMatchObject({ code: 'REDIRECT_REFUSED' })
    const other = follow(up, httpsUrl.replace('a.localhost', 'b.localhost'))
    expect([...other.headers.keys()]).toEqual([])
  })
})
