import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { api } from '../../../../src/blocks/api.ts'
import { httpPeer, RawPeer } from '../../../support/outbound/peers.ts'
import { makeContext, runBlock } from '../context.ts'

type Arrived = { method: string; url: string; type: string | null; headers: Headers; body: string; raw: Request }

/** Sends a request to a server that records it. `URL` in the parameters is the address of the server. */
async function sent(params: Record<string, unknown>): Promise<Arrived> {
  let arrived: Arrived | undefined
  using peer = httpPeer(async (request, url) => {
    const raw = request.clone() as Request
    const { method, headers } = request
    const body = await request.text()
    arrived = { method, url: url.pathname + url.search, type: headers.get('content-type'), headers, body, raw }
    return new Response(null, { status: 204 })
  })
  const { error } = await go({
    ...params,
    url: String(params['url'] ?? 'URL/').replace('URL', `http://127.0.0.1:${peer.port}`),
  })
  if (error) throw new Error(error.message)
  return arrived!
}

async function go(params: Record<string, unknown>) {
  using context = makeContext()
  return await runBlock(api, { retries: 0, ...params }, context)
}

/** The error of a block that must fail before it sends anything. */
async function refused(params: Record<string, unknown>) {
  using peer = await new RawPeer(() => {}).listen()
  const url = String(params['url'] ?? 'URL/').replace('URL', `http://127.0.0.1:${peer.port}`)
  const { outputs, error } = await go({ ...params, url })
  expect(outputs).toEqual({ data: null, status: null, headers: null, error })
  expect(peer.connections).toBe(0)
  return error
}

describe('the URL', () => {
  test('keeps its own query, and parameters are appended in order', async () => {
    const params = [
      { key: 'b', value: 'x y&z=ü' },
      { key: '', value: 'left out' },
      { key: 'b', value: 2 },
      { key: 'c d', value: null },
      { key: 'e', value: { f: [1] } },
      { key: 'g' },
      { key: 'h', value: true },
    ]
    const query = 'b=x%20y%26z%3D%C3%BC&b=2&c%20d=&e=%7B%22f%22%3A%5B1%5D%7D&g=&h=true'
    expect((await sent({ url: 'URL/p?a=1#part', params })).url).toBe(`/p?a=1&${query}`)
    expect((await sent({ url: 'URL/p', params })).url).toBe(`/p?${query}`)
    for (const url of ['URL/p?', 'URL/p?#part']) expect((await sent({ url, params })).url).toBe(`/p?${query}`)
    expect((await sent({ url: 'URL/p?a&', params: [{ key: 'b', value: '1' }] })).url).toBe('/p?a&b=1')
    expect((await sent({ url: 'URL', params: [{ key: 'b', value: '1' }] })).url).toBe('/?b=1')
    expect((await sent({ url: 'URL/p?a=b', params: [] })).url).toBe('/p?a=b')
  })

  test('has :name and {name} in its path filled in with percent-encoding', async () => {
    const pathParams = { id: 'a/b?c#d%2e é', n: 7, 'odd name': 'x' }
    const encoded = 'a%2Fb%3Fc%23d%252e%20%C3%A9'
    expect((await sent({ url: 'URL/users/:id/posts/{n}', pathParams })).url).toBe(`/users/${encoded}/posts/7`)
    expect((await sent({ url: 'URL/:id.json', pathParams })).url).toBe(`/${encoded}.json`)
    expect((await sent({ url: 'URL/v{n}:{n}/{odd name}', pathParams })).url).toBe('/v7:7/x')
    expect((await sent({ url: 'URL/a:id/:idx/{x}?q=:id', pathParams })).url).toBe('/a:id/:idx/%7Bx%7D?q=:id')
    expect((await sent({ url: 'URL/:constructor/{__proto__}', pathParams })).url).toBe('/:constructor/%7B__proto__%7D')
  })

  test('cannot be changed to another resource by a path parameter', async () => {
    for (const value of ['.', '..', '', null]) {
      const error = await refused({ url: 'URL/a/:id/b', pathParams: { id: value } })
      expect(error).toMatchObject({ code: 'INVALID_URL', attempts: 0, message: expect.stringContaining('"id"') })
    }
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), async (id) => {
        fc.pre(id !== '.' && id !== '..')
        const { url } = await sent({ url: 'URL/a/{id}/b?q=1', pathParams: { id } })
        expect(url).toBe(`/a/${encodeURIComponent(id.toWellFormed())}/b?q=1`)
      }),
      { numRuns: 30 },
    )
  })

  test('encodes a lone surrogate as the replacement character', async () => {
    const { url } = await sent({ url: 'URL/{x}', pathParams: { x: '\ud800' }, params: [{ key: 'k', value: '\udc00' }] })
    expect(url).toBe('/%EF%BF%BD?k=%EF%BF%BD')
  })

  test('that is invalid fails with the reason', async () => {
    for (const url of ['', 'service.example', 'file:///etc/passwd', '/path'])
      expect((await go({ url, params: [{ key: 'a', value: 'b' }], pathParams: { a: 1 } })).error).toMatchObject({
        code: 'INVALID_URL',
      })
  })
})

describe('the body', () => {
  test('is sent with POST, PUT and PATCH only', async () => {
    for (const method of ['POST', 'PUT', 'PATCH']) expect((await sent({ method, body: { a: 1 } })).body).toBe('{"a":1}')
    for (const method of ['GET', 'DELETE']) {
      const { body, type } = await sent({ method, body: { a: 1 }, bodyType: 'file' })
      expect([body, type]).toEqual(['', null])
    }
  })

  test('is JSON by default', async () => {
    for (const body of [{ a: [1, null, 'é'] }, [1], 'text', 0, false, true]) {
      const arrived = await sent({ method: 'POST', body })
      expect([arrived.body, arrived.type]).toEqual([JSON.stringify(body), 'application/json'])
    }
  })

  test('is absent when it is not set', async () => {
    for (const bodyType of ['json', 'text', 'form', 'multipart']) {
      for (const body of [undefined, null, '']) {
        const arrived = await sent({ method: 'POST', bodyType, ...(body === undefined ? {} : { body }) })
        expect([arrived.body, arrived.type]).toEqual(['', null])
      }
    }
  })

  test('is sent as text unchanged, or as the JSON text of other values', async () => {
    const arrived = await sent({ method: 'PUT', bodyType: 'text', body: '{"not": json\n}' })
    expect([arrived.body, arrived.type]).toEqual(['{"not": json\n}', 'text/plain;charset=utf-8'])
    expect((await sent({ method: 'PUT', bodyType: 'text', body: { a: 1 } })).body).toBe('{"a":1}')
  })

  test('is a form, from pairs, an object, or encoded text', async () => {
    const pairs = [
      { key: 'a b', value: 'x&y' },
      { key: '', value: 'left out' },
      { key: 'a b', value: 2 },
      { key: 'c', value: null },
    ]
    const { body, type } = await sent({ method: 'POST', bodyType: 'form', body: pairs })
    expect([body, type]).toEqual(['a+b=x%26y&a+b=2&c=', 'application/x-www-form-urlencoded'])
    expect((await sent({ method: 'POST', bodyType: 'form', body: { a: [1, 2], b: { c: 3 } } })).body).toBe(
      'a=1&a=2&b=%7B%22c%22%3A3%7D',
    )
    expect((await sent({ method: 'POST', bodyType: 'form', body: 'a=1&b=%20' })).body).toBe('a=1&b=%20')
  })

  test('is multipart, with a boundary that the author cannot change', async () => {
    const body = [
      { key: 'a', value: 'é\r\n--x' },
      { key: 'b', value: 1 },
      { key: 'b"\r\nX: y', value: '2' },
    ]
    const headers = [{ key: 'content-type', value: 'multipart/form-data' }]
    const { raw, type } = await sent({ method: 'POST', bodyType: 'multipart', body, headers })
    expect(type).toMatch(/^multipart\/form-data; boundary=/)
    const form = await raw.formData()
    expect([form.get('a'), form.getAll('b')]).toEqual(['é\r\n--x', ['1']])
    expect([...form.keys()].length).toBe(3)
  })

  test("keeps the author's content type, in any case of the header's name", async () => {
    const headers = [{ key: 'CONTENT-type', value: 'application/vnd.api+json' }]
    for (const bodyType of ['json', 'text', 'form'])
      expect((await sent({ method: 'POST', bodyType, body: { a: 1 }, headers })).type).toBe('application/vnd.api+json')
  })

  test('with an invalid form fails with the expected shape', async () => {
    for (const bodyType of ['form', 'multipart'])
      for (const body of [7, [1], ['a'], [{ name: 'a' }], [null]])
        expect(await refused({ method: 'POST', bodyType, body })).toMatchObject({
          code: 'INVALID_PARAMETER',
          message: expect.stringContaining('{ key, value }'),
        })
    expect(await refused({ method: 'POST', bodyType: 'multipart', body: 'text' })).toMatchObject({
      code: 'INVALID_PARAMETER',
    })
  })

  test('with an invalid file fails before anything is sent', async () => {
    const message = expect.stringContaining('is not a file')
    for (const file of [undefined, null, 'text', {}, [], [{ url: 'a' }, { url: 'b' }]]) {
      const refusal = { code: 'INVALID_PARAMETER', message }
      expect(await refused({ method: 'POST', bodyType: 'file', file })).toMatchObject(refusal)
    }
    const body = [{ key: 'a', file: {} }]
    expect(await refused({ method: 'POST', bodyType: 'multipart', body })).toMatchObject({ message })
    expect(await refused({ method: 'POST', bodyType: 'form', body })).toMatchObject({ code: 'INVALID_PARAMETER' })
  })

  test('that is a file has its bytes and type; a file from elsewhere is fetched first', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(200_000))
    using elsewhere = httpPeer((_, url) =>
      url.pathname === '/gone' ? new Response(null, { status: 404 }) : new Response('from elsewhere'),
    )
    const far = { url: `http://127.0.0.1:${elsewhere.port}/x`, name: 'x.txt', size: 0, type: 'text/x' }
    using context = makeContext()
    const near = await context.files.store(bytes, { name: 'ä.png', type: 'image/png' })
    const arrived: { type: string | null; body: Uint8Array | FormData }[] = []
    using peer = httpPeer(async (request) => {
      const type = request.headers.get('content-type')
      const isForm = type?.startsWith('multipart/')
      arrived.push({ type, body: isForm ? await request.formData() : new Uint8Array(await request.arrayBuffer()) })
      return new Response(null, { status: arrived.length === 1 ? 503 : 204 })
    })
    const url = `http://127.0.0.1:${peer.port}/`
    const send = async (params: Record<string, unknown>) =>
      await runBlock(api, { url, method: 'POST', retries: 1, ...params }, { ...context, random: () => 0 })
    expect((await send({ bodyType: 'file', file: near })).error).toBeUndefined()
    // The first attempt failed; the second one sends the same bytes.
    expect(arrived.map(({ type }) => type)).toEqual(['image/png', 'image/png'])
    for (const { body } of arrived.splice(0)) expect(body).toEqual(bytes)
    arrived.push({ type: null, body: new Uint8Array() })
    await send({ bodyType: 'file', file: [far], headers: [{ key: 'Content-Type', value: 'text/y' }] })
    expect(arrived[1]).toEqual({ type: 'text/y', body: new Uint8Array(Buffer.from('from elsewhere')) })
    await send({
      bodyType: 'multipart',
      body: [
        { key: 'a', value: 1 },
        { key: 'f', file: near },
        { key: 'g', file: far },
      ],
    })
    const form = arrived[2]!.body as FormData
    expect(form.get('a')).toBe('1')
    const [f, g] = [form.get('f') as File, form.get('g') as File]
    expect([f.name, f.type, new Uint8Array(await f.arrayBuffer())]).toEqual(['ä.png', 'image/png', bytes])
    expect([g.name, await g.text()]).toEqual(['x.txt', 'from elsewhere'])
    const gone = { ...far, url: far.url.replace('/x', '/gone') }
    expect((await send({ bodyType: 'file', file: gone })).error).toMatchObject({ code: 'HTTP_ERROR' })
  })
})

test('headers are sent as text, and those with an empty name are skipped', async () => {
  const { headers } = await sent({
    headers: [{ key: 'X-N', value: 7 }, { key: '', value: 'x' }, { key: 'X-O', value: { a: 1 } }, { key: 'X-E' }],
  })
  expect([headers.get('x-n'), headers.get('x-o'), headers.get('x-e')]).toEqual(['7', '{"a":1}', ''])
})
