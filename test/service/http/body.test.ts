import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { AppError } from '../../../src/domain/errors.ts'
import { readBody } from '../../../src/http/requests/body.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { chunk, sendRaw } from './raw.ts'
import { HttpWorld, sampleDocument } from './world.ts'

const bytesMax = 1000
const limits = bodyLimits({ bytes: bytesMax })
let world: HttpWorld
/** How reading the body ended, request by request. */
const endings: string[] = []
let ended = Promise.withResolvers<void>()
beforeAll(async () => {
  const execute = () =>
    new Elysia().post(
      '/echo',
      async ({ request }) => {
        try {
          const text = await readBody(request, limits)
          endings.push('read')
          return { length: text.length, text: text.slice(0, 100) }
        } catch (error) {
          endings.push((error as AppError).code)
          throw error
        } finally {
          ended.resolve()
          ended = Promise.withResolvers()
        }
      },
      { parse: 'none' },
    )
  world = await HttpWorld.open({ bodyBytesMax: bytesMax, routes: execute })
})
afterAll(() => world.close())

const head = (lines: string) => `POST /echo HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`
const expectCode = (body: string, code: string) => expect(JSON.parse(body).code).toBe(code)

describe('a body', () => {
  test('of exactly the maximum size is accepted, one byte more is not', async () => {
    expect((await world.post('/echo', undefined, { text: 'x'.repeat(bytesMax) })).json.length).toBe(bytesMax)
    const { status, json } = await world.post('/echo', undefined, { text: 'x'.repeat(bytesMax + 1) })
    expect({ status, json }).toEqual({
      status: 413,
      json: { error: 'The body is larger than 1000 bytes, the most that MAX_bytes allows.', code: 'PAYLOAD_TOO_LARGE' },
    })
    // Bytes count, not characters.
    expect((await world.post('/echo', undefined, { text: 'ü'.repeat(501) })).status).toBe(413)
  })

  test('without a length is counted while it arrives', async () => {
    const fits = await sendRaw(world.port, [
      head('Transfer-Encoding: chunked'),
      chunk('x'.repeat(600)),
      chunk('y'.repeat(400)),
      '0\r\n\r\n',
    ])
    expect(JSON.parse(fits.body).length).toBe(bytesMax)
    const over = await sendRaw(world.port, [
      head('Transfer-Encoding: chunked'),
      chunk('x'.repeat(600)),
      chunk('y'.repeat(401)),
      '0\r\n\r\n',
    ])
    expect(over.status).toBe(413)
    expectCode(over.body, 'PAYLOAD_TOO_LARGE')
    expect(over.head).toMatch(/x-request-id: /i)
  })

  test('without an end is refused as soon as it is too long', async () => {
    const endless = Array.from({ length: 50 }, () => chunk(new Uint8Array(100_000)))
    const { status, body } = await sendRaw(world.port, [head('Transfer-Encoding: chunked'), ...endless])
    expect(status).toBe(413)
    expectCode(body, 'PAYLOAD_TOO_LARGE')
  })

  test('that announces too large a size is refused before it is sent', async () => {
    const { status, body } = await sendRaw(world.port, [head('Content-Length: 1001')])
    expect(status).toBe(413)
    expectCode(body, 'PAYLOAD_TOO_LARGE')
    const huge = await sendRaw(world.port, [head('Content-Length: 900000000000')])
    expectCode(huge.body, 'PAYLOAD_TOO_LARGE')
  })

  test('larger than any route accepts is refused before the key is checked', async () => {
    const request = (length: number) => `POST /api/workflows HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`
    expectCode((await sendRaw(world.port, [request(2 * bytesMax + 1)])).body, 'PAYLOAD_TOO_LARGE')
    expectCode((await sendRaw(world.port, [request(2 * bytesMax)])).body, 'API_KEY_REQUIRED')
  })

  test('that breaks off is not an error of the service', async () => {
    world.lines.length = 0
    for (const lines of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
      endings.length = 0
      const over = ended.promise
      await sendRaw(world.port, [head(lines), lines.startsWith('C') ? 'x'.repeat(10) : chunk('abc')], true)
      await over
      expect(endings).toEqual(['INVALID_INPUT'])
    }
    expect(world.lines).toEqual([])
    expect((await world.get('/health')).status).toBe(200)
  })

  test('that is not UTF-8 is refused instead of silently changed', async () => {
    const latin1 = new Uint8Array(Buffer.from('{"name":"J\xfcrgen"}', 'latin1'))
    const { status, body } = await sendRaw(world.port, [head(`Content-Length: ${latin1.length}`), latin1])
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 400,
      body: { error: 'The body is not UTF-8 text.', code: 'INVALID_JSON' },
    })
    // A byte order mark does not count as content.
    expect((await world.post('/echo', undefined, { text: '\ufeff{}' })).json).toEqual({ length: 2, text: '{}' })
  })

  test('is read as JSON for every content type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'nonsense',
      '',
    ]) {
      const { status } = await world.post(
        '/api/workflows',
        { ...sampleDocument() },
        { headers: { 'content-type': type } },
      )
      expect({ type, status }).toEqual({ type, status: 201 })
    }
  })

  test('may be announced with Expect: 100-continue', async () => {
    const { status, body } = await sendRaw(world.port, [head('Content-Length: 3\r\nExpect: 100-continue'), 'abc'])
    expect({ status, text: JSON.parse(body).text }).toEqual({ status: 200, text: 'abc' })
  })
})

describe('bytes that are not HTTP', () => {
  const cases: Record<string, (string | Uint8Array)[]> = {
    'a TLS greeting': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    'no host': ['GET /health HTTP/1.1\r\n\r\n'],
    'a header with a space in its name': ['GET /health HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n'],
    'a zero byte in a header': ['GET /health HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
    'two lengths': ['POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    'a negative length': ['POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nab'],
    'a length and chunks': [
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    'a chunk without a size': ['POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n'],
    'headers without end': [`GET /health HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`],
    'a space in the path': ['GET /a b HTTP/1.1\r\nHost: a\r\n\r\n'],
  }
  for (const [name, parts] of Object.entries(cases)) {
    test(`${name}: refused, and the service continues`, async () => {
      const { status } = await sendRaw(world.port, parts)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status === 505 || status < 500).toBe(true)
      expect((await world.get('/health')).status).toBe(200)
    })
  }
})
