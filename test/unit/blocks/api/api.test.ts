import { afterAll, describe, expect, test } from 'bun:test'
import { api } from '../../../../src/blocks/api.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { block, document } from '../../../support/make.ts'
import { httpPeer, outboundOf } from '../../../support/outbound/peers.ts'
import { spansOf, World } from '../../engine/world.ts'

const nothingElse = { limits: defaultLimits, variables: new Set<string>(), priceOf: () => undefined }

describe('the check at deployment', () => {
  const check = (params: Record<string, unknown>) =>
    (api.check?.(params, nothingElse, params) ?? []).map(({ level, path }) => `${level} ${path}`)

  test('finds URLs that cannot be called, and unused path parameters', () => {
    expect(check({ url: 'https://x.example/:id/{name}', pathParams: { id: 1, name: 2 } })).toEqual([])
    expect(check({})).toEqual([])
    for (const url of ['', 'x.example', 'ftp://x', 'https://', 'https:///x'])
      expect(check({ url })).toEqual(['error url'])
    expect(check({ url: 'http://x/', pathParams: { id: 1 } })).toEqual(['warning pathParams.id'])
  })
})

describe('how the body is read', () => {
  const mode = (params: Record<string, unknown>) => {
    const of = api.modes?.['body']
    return typeof of === 'function' ? of(params) : of
  }

  test('is JSON if JSON is sent, and text otherwise', () => {
    expect(mode({ method: 'POST', body: '{"a":' })).toBe('json')
    expect(mode({ method: 'PUT', bodyType: 'json', body: {} })).toBe('json')
    expect(mode({ method: '{{METHOD}}', body: '{}' })).toBe('json')
    for (const params of [
      { method: 'POST', bodyType: 'text' },
      { method: 'POST', bodyType: 'form' },
      {},
      { method: 'DELETE' },
    ])
      expect(mode({ body: 'no json', ...params })).toBe('template')
    expect(mode({ method: 'POST', body: '  ' })).toBe('template')
  })
})

describe('in a workflow', () => {
  const seen: string[] = []
  const peer = httpPeer(async (request, url) => {
    seen.push(await request.text())
    return Response.json({ path: url.pathname, sent: seen.at(-1) }, { status: url.pathname === '/fails' ? 404 : 200 })
  })
  const outbound = outboundOf(['loopback'])
  const world = new World({ fetch: outbound.fetch })
  afterAll(async () => {
    outbound.stop()
    await peer.stop(true)
    await world.stop()
  })
  const base = `http://127.0.0.1:${peer.port}`
  const after = (params: Record<string, unknown>, edges = ['in > call', 'call > out']) =>
    document({
      blocks: [
        block('in', 'api_trigger'),
        block('call', 'api', { method: 'POST', retries: 0, ...params }),
        block('out', 'response', { data: { data: '<call.data>', status: '<call.status>', code: '<call.error.code>' } }),
      ],
      edges,
    })

  test('a JSON body with references stays valid for any value', async () => {
    const odd = 'quote " backslash \\ line\nbreak } , <api.input.x> {{NAME}} é \u2028'
    const url = `${base}/ok`
    for (const body of [
      '{"text": "say: <api.input.text>", "all": <api.input>}',
      { text: 'say: <api.input.text>', all: '<api.input>' },
    ]) {
      await world.output(after({ url, body }), { text: odd, n: 1 })
      expect(JSON.parse(seen.at(-1)!)).toEqual({ text: `say: ${odd}`, all: { text: odd, n: 1 } })
    }
    await world.output(after({ url, bodyType: 'text', body: '{"text": <api.input.text>' }), { text: odd })
    expect(seen.at(-1)).toBe(`{"text": ${odd}`)
  })

  test('a reference in a path parameter fills one segment', async () => {
    const url = `${base}/users/:id/x`
    const output = await world.output(after({ url, pathParams: { id: '<api.input.id>' } }), { id: '../admin?a#b' })
    expect(output).toMatchObject({ data: { data: { path: '/users/..%2Fadmin%3Fa%23b/x' } } })
  })

  test('a body with a secret of the workspace does not follow a redirect to another origin', async () => {
    using moved = httpPeer(() => new Response(null, { status: 307, headers: { location: `${base}/moved` } }))
    const withSecret = new World({ fetch: outbound.fetch, environment: { TOKEN: 'hunter2-hunter2' } })
    const before = seen.length
    const params = { url: `http://127.0.0.1:${moved.port}/`, retries: 3, onError: 'continue' }
    const refused = await withSecret.output(after({ ...params, body: { token: '{{TOKEN}}' } }))
    expect(refused).toMatchObject({ data: { data: null, status: null, code: 'REDIRECT_REFUSED' } })
    expect(seen.length).toBe(before)
    expect(await withSecret.output(after({ ...params, body: { token: 'none' } }))).toMatchObject({
      data: { data: { path: '/moved', sent: '{"token":"none"}' }, code: null },
    })
    await withSecret.stop()
  })

  test('a failed request continues with `continue`, takes the error edge, or fails the run', async () => {
    const url = `${base}/fails`
    const failed = { data: { data: { path: '/fails' }, status: 404, code: 'HTTP_ERROR' } }
    expect(await world.output(after({ url, onError: 'continue' }))).toMatchObject(failed)
    expect(await world.output(after({ url }, ['in > call', 'call:error > out']))).toMatchObject(failed)
    const { record } = await world.run(after({ url }))
    expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockName: 'call' })
    const [span] = spansOf(record.root).get('call') ?? []
    expect(span).toMatchObject({
      status: 'error',
      error: { code: 'HTTP_ERROR' },
      attempts: [{ number: 1, status: 404 }],
    })
  })
})
