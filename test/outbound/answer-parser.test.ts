import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AnswerParser, BrokenAnswer } from '../../src/outbound/answer-parser.ts'
import { AnswerStart, type StartedAnswer } from '../../src/outbound/answer-start.ts'

type Ending = { method?: string; thenEnds?: boolean }

/** Feeds an answer in pieces cut at these places; what came of it. */
function parsed(text: string, cuts: readonly number[], { method, thenEnds = false }: Ending = {}) {
  const bytes = Buffer.from(text, 'latin1')
  const seen = { status: 0, headers: {} as Record<string, unknown>, body: '', isWhole: false, keeps: false }
  const parser = new AnswerParser(
    {
      begun({ status, headers }) {
        seen.status = status
        seen.headers = Object.fromEntries(headers)
      },
      body(part) {
        expect([seen.status > 0, part.length > 0]).toEqual([true, true])
        seen.body += part.toString('latin1')
      },
    },
    method,
  )
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  let from = 0
  for (const to of [...places, bytes.length]) {
    if (to > from) parser.read(bytes.subarray(from, to))
    from = to
  }
  if (thenEnds) parser.end()
  return { ...seen, isWhole: parser.isWhole, keeps: parser.leavesConnection }
}

const cuts = fc.array(fc.nat(), { maxLength: 12 })
const latin1 = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'))

function chunked(text: string, sizes: readonly number[]): string {
  let rest = text
  let out = ''
  for (const size of [...sizes, text.length]) {
    const chunk = rest.slice(0, size)
    rest = rest.slice(size)
    if (chunk !== '') out += `${chunk.length.toString(16)};note=1\r\n${chunk}\r\n`
  }
  return `${out}0\r\nX-Trailer: 1\r\n\r\n`
}

describe('an answer is read the same, in whatever pieces it arrives,', () => {
  test('by its length', () => {
    fc.assert(
      fc.property(latin1, cuts, (body, where) => {
        const head = `HTTP/1.1 201 Made\r\nRETRY-after:  7 \r\nContent-Length: ${body.length}\r\n\r\n`
        const seen = parsed(head + body, where)
        expect(seen).toMatchObject({ status: 201, headers: { 'retry-after': '7' }, body, isWhole: true, keeps: true })
      }),
    )
  })

  test('in chunks', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 8 })
    fc.assert(
      fc.property(latin1, sizes, cuts, (body, lengths, where) => {
        const head = 'HTTP/1.1 500 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'
        const seen = parsed(head + chunked(body, lengths), where)
        expect(seen).toMatchObject({ status: 500, body, isWhole: true, keeps: true })
      }),
    )
  })

  test('to the end of the connection', () => {
    fc.assert(
      fc.property(latin1, cuts, (body, where) => {
        const text = `HTTP/1.0 200 OK\r\nServer: x\r\n\r\n${body}`
        expect(parsed(text, where)).toMatchObject({ status: 200, body, isWhole: false })
        expect(parsed(text, where, { thenEnds: true })).toMatchObject({ body, isWhole: true, keeps: false })
      }),
    )
  })

  test('after answers that are only interim', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const text = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 Fine\r\n\r\n'
        expect(parsed(text, where)).toEqual({ status: 204, headers: {}, body: '', isWhole: true, keeps: true })
      }),
    )
  })
})

describe('an answer', () => {
  test('that breaks off is not whole', () => {
    for (const head of ['Content-Length: 9', 'Transfer-Encoding: chunked'])
      expect(parsed(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`, [], { thenEnds: true }).isWhole).toBe(false)
  })

  test('may say its length twice, and that its body was not transformed', () => {
    for (const head of ['Content-Length: 2\r\nContent-Length: 2', 'Transfer-Encoding: identity\r\nContent-Length: 2'])
      expect(parsed(`HTTP/1.1 200 OK\r\n${head}\r\n\r\nok`, [])).toMatchObject({ body: 'ok', isWhole: true })
  })

  test('to HEAD has no body, whatever it says of one', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'
    expect(parsed(text, [], { method: 'HEAD' })).toMatchObject({ isWhole: true, keeps: true, body: '' })
  })

  test('has its headers by lower-case names, repeated ones joined and cookies as a list', () => {
    const lines = [
      'X-A: 1',
      'Set-Cookie: a=1; Path=/',
      '__proto__: p',
      'x-a: 2',
      'set-cookie: b=2, c',
      'Content-Length: 0',
    ]
    expect(Object.entries(parsed(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`, []).headers)).toEqual([
      ['x-a', '1, 2'],
      ['set-cookie', ['a=1; Path=/', 'b=2, c']],
      ['__proto__', 'p'],
      ['content-length', '0'],
    ])
  })

  test('closes its connection when it says so, or when something comes behind it', () => {
    const of = (head: string, rest = '') =>
      parsed(`HTTP/1.1 200 OK\r\n${head}Content-Length: 0\r\n\r\n${rest}`, []).keeps
    expect(of('')).toBe(true)
    expect(of('Connection: Close\r\n')).toBe(false)
    expect(of('', 'HTTP/1.1 200')).toBe(false)
    expect(parsed('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n', []).keeps).toBe(true)
  })

  test.each([
    ['SSH-2.0-OpenSSH\r\n\r\n', 'not HTTP'],
    ['HTTP/2 200\r\n\r\n', 'not HTTP'],
    ['HTTP/1.1 999 What\r\n\r\n', 'the status 999'],
    ['HTTP/1.1 101 Switching\r\n\r\n', 'switch of protocols'],
    ['HTTP/1.1 200 OK\r\nno header\r\n\r\n', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'length'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok', 'length'],
    ['HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nX: a\r\n b: c\r\n\r\n', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n', 'not HTTP'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`, 'too large'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 'too large'],
    ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(30), 'without end'],
  ])('that is none is refused: %j', (text, why) => {
    expect(() => parsed(text, [])).toThrow(BrokenAnswer)
    expect(() => parsed(text, [])).toThrow(why)
  })
})

describe('the beginning of an answer', () => {
  async function started(text: string, bytesWanted: number): Promise<StartedAnswer & { hasEnough: boolean }> {
    const { promise, resolve, reject } = Promise.withResolvers<StartedAnswer>()
    const start = new AnswerStart(bytesWanted, resolve, reject)
    const parser = new AnswerParser(start)
    for (const byte of Buffer.from(text, 'latin1')) parser.read(new Uint8Array([byte]))
    if (parser.isWhole) start.ended()
    else if (!start.hasEnough) start.failed(new Error('more of it is wanted'))
    return { ...(await promise), hasEnough: start.hasEnough }
  }

  test('is as much of the body as is wanted, with the status and the time to wait', async () => {
    const head = 'HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 150\r\n\r\n'
    await expect(started(head.replace('429', '200') + 'x'.repeat(99), 100)).rejects.toThrow('more of it is wanted')
    expect((await started(head + 'x'.repeat(99), 100)).body).toHaveLength(99)
    const { body, ...facts } = await started(head + 'x'.repeat(120), 100)
    expect(facts).toEqual({ status: 429, retryAfter: '7', hasEnough: true })
    expect(Buffer.from(body).toString()).toBe('x'.repeat(100))
    expect(await started(head + 'x'.repeat(150), 1_000)).toMatchObject({
      body: Buffer.alloc(150, 'x'),
      hasEnough: false,
    })
  })

  test('that is compressed although nobody asked has no body', async () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08'
    const { status, body } = await started(text, 2_048)
    expect([status, body.length]).toEqual([200, 0])
  })
})
