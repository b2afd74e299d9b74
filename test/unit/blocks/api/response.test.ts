import { describe, expect, test } from 'bun:test'
import { api } from '../../../../src/blocks/api.ts'
import { httpPeer, RawPeer } from '../../../support/outbound/peers.ts'
import { makeContext, runBlock } from '../context.ts'

async function go(params: Record<string, unknown>) {
  using context = makeContext()
  return await runBlock(api, { retries: 0, ...params }, context)
}

/** The outputs of the block for a response. */
async function read(body: string | Uint8Array<ArrayBuffer> | null, headers: Record<string, string> = {}, status = 200) {
  using peer = await new RawPeer((socket) => {
    const bytes = Buffer.from(body ?? '')
    const lines = Object.entries({ 'Content-Length': `${bytes.byteLength}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.write(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`)
    socket.write(bytes)
  }).listen()
  return await go({ url: peer.url })
}
const dataOf = async (body: string | Uint8Array<ArrayBuffer>, type?: string) => {
  const { outputs, error } = await read(body, type === undefined ? {} : { 'Content-Type': type })
  if (error) throw new Error(error.message)
  return outputs['data']
}

describe('the response', () => {
  test('is parsed if its type is JSON', async () => {
    for (const type of [
      'application/json',
      'Application/JSON; charset=utf-8',
      'text/json',
      'application/problem+json',
      'application/vnd.x+json;v=1',
    ])
      expect([type, await dataOf('{"a":[1,"é"]}', type)]).toEqual([type, { a: [1, 'é'] }])
    expect(await dataOf('\ufeff[1]', 'application/json')).toEqual([1])
    expect(await dataOf('null', 'application/json')).toBe(null)
  })

  test('stays text if the JSON is invalid or nested too deep', async () => {
    expect(await dataOf('{"a":', 'application/json')).toBe('{"a":')
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(await dataOf(nested(200), 'application/json')).toBeArray()
    for (const levels of [201, 100_000]) expect(await dataOf(nested(levels), 'application/json')).toBe(nested(levels))
  })

  test('keeps a member named __proto__ as data', async () => {
    const data = (await dataOf('{"__proto__":{"a":1}}', 'application/json')) as object
    expect(Object.keys(data)).toEqual(['__proto__'])
    expect('a' in data).toBe(false)
  })

  test('is text for every type of text', async () => {
    const types = [
      'text/plain',
      'text/html; charset=utf-8',
      'text/csv',
      'application/xml',
      'application/atom+xml',
      'image/svg+xml',
    ]
    for (const type of [
      ...types,
      'application/javascript',
      'text/javascript',
      'application/x-www-form-urlencoded',
      'TEXT/X',
    ])
      expect([type, await dataOf('[1] é', type)]).toEqual([type, '[1] é'])
  })

  test('is read in its charset; an unknown charset counts as UTF-8', async () => {
    expect(await dataOf(new Uint8Array([0xe9, 0x80]), 'text/plain; charset=windows-1252')).toBe('é€')
    expect(await dataOf(new Uint8Array([0xe9]), 'text/plain; format=flowed; Charset="ISO-8859-1"')).toBe('é')
    expect(await dataOf(new Uint8Array([0x83, 0x41]), 'text/html;charset=shift_jis')).toBe('ア')
    expect(await dataOf(new Uint8Array([0x7b, 0, 0x7d, 0]), 'application/json; charset=utf-16le')).toEqual({})
    expect(await dataOf('é', 'text/plain; charset=nonsense')).toBe('é')
    expect(await dataOf(new Uint8Array([0x61, 0xff]), 'text/plain')).toBe('a\ufffd')
  })

  test('without a type is text if it is valid UTF-8', async () => {
    expect(await dataOf('[1] é')).toBe('[1] é')
    expect(await dataOf('x', '')).toBe('x')
    const { outputs } = await read(new Uint8Array([0xff, 0xfe, 0]))
    expect(outputs['data']).toMatchObject({ size: 3, type: 'application/octet-stream' })
  })

  test('is null if it is empty, with any type', async () => {
    for (const type of ['application/json', 'text/plain', 'image/png']) {
      const { outputs, error } = await read('', { 'Content-Type': type })
      expect([outputs['data'], error]).toEqual([null, undefined])
    }
  })

  test('is a file if it is not text, also with an error status', async () => {
    for (const type of ['image/png', 'application/octet-stream', 'multipart/form-data; boundary=x']) {
      const { outputs, error } = await read(new Uint8Array([1, 2]), { 'Content-Type': type })
      expect(error).toBeUndefined()
      const data = { name: 'file', size: 2, type: type.split(';')[0] }
      expect(outputs).toMatchObject({ status: 200, data, headers: { 'content-type': type } })
    }
    const { outputs, error } = await read(new Uint8Array([1]), { 'Content-Type': 'image/png' }, 404)
    expect(error).toMatchObject({ code: 'HTTP_ERROR' })
    expect(outputs['data']).toMatchObject({ size: 1, type: 'image/png' })
  })

  test('is a file with the name in its header, or else in its URL', async () => {
    for (const [disposition, name] of [
      ['attachment; filename="a b.pdf"', 'a b.pdf'],
      ['attachment; filename=a.pdf; x=y', 'a.pdf'],
      [`attachment; filename="b"; filename*=UTF-8''%C3%A4.pdf`, 'ä.pdf'],
      ['attachment; filename="../../etc/passwd"', 'passwd'],
      ['inline', 'bericht 1.pdf'],
    ] as const) {
      using peer = httpPeer(
        () => new Response('x', { headers: { 'content-type': 'application/pdf', 'content-disposition': disposition } }),
      )
      const { outputs } = await go({ url: `http://127.0.0.1:${peer.port}/a/bericht%201.pdf?x=y.txt` })
      expect(outputs['data']).toMatchObject({ name })
    }
  })

  test('has a status, and headers by lower-case names', async () => {
    const { outputs, error } = await read(
      '{}',
      { 'Content-Type': 'application/json', 'X-A': '1', 'Set-Cookie': 'a=1' },
      201,
    )
    expect(error).toBeUndefined()
    const headers = { 'content-length': '2', 'content-type': 'application/json', 'x-a': '1', 'set-cookie': ['a=1'] }
    expect(outputs).toEqual({ data: {}, status: 201, headers, error: null })
  })

  test('is the redirect itself when none is followed', async () => {
    using peer = httpPeer(() => new Response('there', { status: 307, headers: { location: '/there' } }))
    const { outputs, error } = await go({ url: `http://127.0.0.1:${peer.port}/`, followRedirects: 0 })
    expect(error).toBeUndefined()
    expect(outputs).toMatchObject({ data: 'there', status: 307, headers: { location: '/there' } })
  })
})

/** The outputs of the block for a response that it reads in a chosen way. */
async function readAs(
  responseType: string,
  body: string,
  more: { type?: string; status?: number; expect?: number[] } = {},
) {
  const { type = 'text/plain', status = 200, expect } = more
  using peer = await new RawPeer((socket) => {
    const length = Buffer.byteLength(body)
    socket.write(`HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${body}`)
  }).listen()
  return await go({ url: peer.url, responseType, ...(expect ? { expect } : {}) })
}

describe('the response type', () => {
  test('json reads JSON of any content type, and fails for anything else', async () => {
    expect((await readAs('json', '{"a":1}')).outputs['data']).toEqual({ a: 1 })
    expect((await readAs('json', '', { type: 'application/json' })).outputs['data']).toBeNull()
    const { outputs, error } = await readAs('json', '<html>')
    expect(error).toMatchObject({ code: 'INVALID_RESPONSE', message: expect.stringContaining('not JSON') })
    expect(outputs).toMatchObject({ data: null, status: 200 })
  })

  test('text leaves JSON as text', async () => {
    expect((await readAs('text', '{"a":1}', { type: 'application/json' })).outputs['data']).toBe('{"a":1}')
    expect((await readAs('text', '')).outputs['data']).toBe('')
  })

  test('lines is a list of lines, parsed when each is an object or a list', async () => {
    expect((await readAs('lines', '{"a":1}\n[2]\r\n\n{"a":3}\n')).outputs['data']).toEqual([{ a: 1 }, [2], { a: 3 }])
    expect((await readAs('lines', 'a\rb\n 1\n')).outputs['data']).toEqual(['a', 'b', ' 1'])
    expect((await readAs('lines', '{"a":1}\nnot JSON\n')).outputs['data']).toEqual(['{"a":1}', 'not JSON'])
    expect((await readAs('lines', '')).outputs['data']).toEqual([])
  })

  test('file stores any body as a file', async () => {
    const { data } = (await readAs('file', '{"a":1}', { type: 'application/json' })).outputs
    expect(data).toMatchObject({ type: 'application/json', size: 7 })
  })

  test('does not apply to failures', async () => {
    const failed = await readAs('file', '{"why":"gone"}', { type: 'application/json', status: 410 })
    expect(failed).toMatchObject({ outputs: { data: { why: 'gone' }, status: 410 }, error: { code: 'HTTP_ERROR' } })
  })
})

test('an expected status is a success', async () => {
  const expected = await readAs('auto', '{"why":"none"}', { type: 'application/json', status: 404, expect: [404, 409] })
  expect(expected.error).toBeUndefined()
  expect(expected.outputs).toMatchObject({ data: { why: 'none' }, status: 404, error: null })
  expect((await readAs('auto', 'no', { status: 400, expect: [404] })).error).toMatchObject({ code: 'HTTP_ERROR' })
  // A service that is overloaded is asked once when the author expects it to be.
  expect((await readAs('auto', 'no', { status: 503, expect: [503] })).outputs['status']).toBe(503)
})
