import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AnswerParser, BrokenAnswer, type ParsedAnswer } from '../../src/outbound/answer-parser.ts'

/** Feeds an answer in pieces cut at these places; what came of it. */
function parsed(text: string, cuts: readonly number[], bytesWanted = 2_048, thenEnds = false) {
  const bytes = Buffer.from(text, 'latin1')
  const parser = new AnswerParser(bytesWanted)
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  let from = 0
  let answer: ParsedAnswer | undefined
  for (const to of [...places, bytes.length]) {
    if (to === from) continue
    answer = parser.read(bytes.subarray(from, to))
    from = to
    if (answer) break
  }
  if (!answer && thenEnds) answer = parser.end()
  const shown = answer && { ...answer, body: Buffer.from(answer.body).toString('latin1') }
  return { answer: shown, keeps: parser.leavesConnection }
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
        const { answer, keeps } = parsed(head + body, where)
        expect(answer).toEqual({ status: 201, retryAfter: '7', body })
        expect(keeps).toBe(true)
      }),
    )
  })

  test('in chunks', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 8 })
    fc.assert(
      fc.property(latin1, sizes, cuts, (body, lengths, where) => {
        const head = 'HTTP/1.1 500 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'
        const { answer, keeps } = parsed(head + chunked(body, lengths), where)
        expect(answer).toEqual({ status: 500, retryAfter: undefined, body })
        expect(keeps).toBe(true)
      }),
    )
  })

  test('to the end of the connection', () => {
    fc.assert(
      fc.property(latin1, cuts, (body, where) => {
        const text = `HTTP/1.0 200 OK\r\nServer: x\r\n\r\n${body}`
        expect(parsed(text, where).answer).toBeUndefined()
        const { answer, keeps } = parsed(text, where, 2_048, true)
        expect(answer).toEqual({ status: 200, retryAfter: undefined, body })
        expect(keeps).toBe(false)
      }),
    )
  })

  test('after answers that are only interim', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const text = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 Fine\r\n\r\n'
        expect(parsed(text, where)).toEqual({ answer: { status: 204, retryAfter: undefined, body: '' }, keeps: true })
      }),
    )
  })
})

describe('an answer', () => {
  test('is enough when as much of it has come as is wanted; then its connection is not used again', () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n'
    expect(parsed(`${head}${'x'.repeat(99)}`, [], 100).answer).toBeUndefined()
    const { answer, keeps } = parsed(`${head}${'x'.repeat(150)}`, [70], 100)
    expect(answer?.body).toBe('x'.repeat(100))
    expect(keeps).toBe(false)
  })

  test('closes its connection when it says so, or when something comes behind it', () => {
    const of = (head: string, rest = '') =>
      parsed(`HTTP/1.1 200 OK\r\n${head}Content-Length: 0\r\n\r\n${rest}`, []).keeps
    expect(of('')).toBe(true)
    expect(of('Connection: Close\r\n')).toBe(false)
    expect(of('', 'HTTP/1.1 200')).toBe(false)
    expect(parsed('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n', []).keeps).toBe(true)
  })

  test('that is compressed although nobody asked is read without its body', () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08'
    expect(parsed(text, []).answer).toMatchObject({ status: 200, body: '' })
  })

  test.each([
    ['SSH-2.0-OpenSSH\r\n\r\n', 'not HTTP'],
    ['HTTP/2 200\r\n\r\n', 'not HTTP'],
    ['HTTP/1.1 999 What\r\n\r\n', 'the status 999'],
    ['HTTP/1.1 101 Switching\r\n\r\n', 'switch of protocols'],
    ['HTTP/1.1 200 OK\r\nno header\r\n\r\n', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'length'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 'not HTTP'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n', 'not HTTP'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`, 'too large'],
    ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(30), 'without end'],
  ])('that is none is refused: %j', (text, why) => {
    expect(() => parsed(text, [])).toThrow(BrokenAnswer)
    expect(() => parsed(text, [])).toThrow(why)
  })
})
