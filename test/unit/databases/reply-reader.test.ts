import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RedisRefusal, ReplyReader } from '../../../src/databases/redis/reply-reader.ts'

const bounds = { bytesMax: 1_000_000, valuesMax: 10_000, depthMax: 20 }

function read(chunks: readonly Uint8Array[], given = bounds): unknown[] {
  const replies: unknown[] = []
  const reader = new ReplyReader(given, (reply) => replies.push(reply))
  for (const chunk of chunks) reader.add(chunk)
  return replies
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

type Reply = string | number | boolean | null | Reply[] | { [key: string]: Reply }

const { reply } = fc.letrec<{ reply: Reply }>((tie) => ({
  reply: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'grapheme' }),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('reply') as fc.Arbitrary<Reply>, { maxLength: 5 }),
    fc.dictionary(fc.string(), tie('reply') as fc.Arbitrary<Reply>, { maxKeys: 4 }),
  ),
}))

function encoded(value: Reply): string {
  if (value === null) return '_\r\n'
  if (typeof value === 'number') return `:${value}\r\n`
  if (typeof value === 'boolean') return `#${value ? 't' : 'f'}\r\n`
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\r\n${value}\r\n`
  if (Array.isArray(value)) return `*${value.length}\r\n${value.map(encoded).join('')}`
  const pairs = Object.entries(value)
  return `%${pairs.length}\r\n${pairs.map(([key, each]) => encoded(key) + encoded(each)).join('')}`
}

describe('replies', () => {
  test('are the same however they are divided into packets', () => {
    fc.assert(
      fc.property(fc.array(reply, { maxLength: 4 }), fc.array(fc.integer({ min: 1, max: 30 })), (values, sizes) => {
        const bytes = bytesOf(values.map(encoded).join(''))
        const chunks: Uint8Array[] = []
        for (let at = 0, next = 0; at < bytes.length; next += 1) {
          const size = sizes[next] ?? bytes.length
          chunks.push(bytes.slice(at, at + size))
          at += size
        }
        expect(read(chunks)).toEqual(values.map((value) => JSON.parse(JSON.stringify(value))))
      }),
    )
  })

  test('of any bytes never do more than fail', () => {
    const piece = fc.oneof(
      fc.uint8Array(),
      fc.constantFrom('*9\r\n', '$5\r\n', '%1\r\n', '-1', ':', '\r\n', '>2\r\n').map(bytesOf),
    )
    fc.assert(
      fc.property(fc.array(piece), (chunks) => {
        try {
          read(chunks)
        } catch (error) {
          expect(error).toMatchObject({ name: 'DatabaseError' })
        }
      }),
    )
  })

  test('of every type have a JSON form', () => {
    const text =
      '+OK\r\n-ERR no\r\n:12345678901234567890\r\n(123\r\n,1.5\r\n,inf\r\n=7\r\ntxt:abc\r\n!3\r\nbad\r\n$-1\r\n*-1\r\n~1\r\n#t\r\n'
    const replies = read([bytesOf(`|1\r\n+ttl\r\n:1\r\n>2\r\n+pushed\r\n+message\r\n${text}`)])
    expect(replies.slice(0, 1)).toEqual(['OK'])
    expect(replies[1]).toBeInstanceOf(RedisRefusal)
    expect(replies.slice(2, 7)).toEqual(['12345678901234567890', 123, 1.5, 'inf', 'abc'])
    expect(replies[7]).toBeInstanceOf(RedisRefusal)
    expect(replies.slice(8)).toEqual([null, null, [true]])
  })

  test('that exceed a bound are refused before they are stored', () => {
    const attacks = [
      '$9999999999\r\n',
      '*1000000000\r\n',
      '%9999999999\r\n',
      '*1\r\n'.repeat(21),
      '*9000\r\n:1\r\n*9999\r\n',
      ':'.repeat(70_000),
      '$5\r\nabcdefgh',
      'x\r\n',
      '*x\r\n',
    ]
    for (const attack of attacks) expect(() => read([bytesOf(attack)])).toThrow()
    const endless = new ReplyReader(bounds, () => {})
    expect(() => {
      for (let sent = 0; sent < 2_000_000; sent += 1_000) endless.add(new Uint8Array(1_000).fill(43))
    }).toThrow()
  })

  test('of many small packets take linear time', () => {
    const bytes = bytesOf(`$900000\r\n${'x'.repeat(900_000)}\r\n`)
    const startedAt = performance.now()
    const chunks = Array.from({ length: Math.ceil(bytes.length / 20) }, (_, index) =>
      bytes.slice(index * 20, index * 20 + 20),
    )
    expect(read(chunks)).toEqual(['x'.repeat(900_000)])
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })
})
