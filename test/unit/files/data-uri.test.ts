import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DataUriReader, type DataValue } from '../../../src/files/data-uri.ts'

function read(text: string, sizes: readonly number[] = [], bytesMax?: number): { value: DataValue; content: Buffer } {
  const pieces: Uint8Array[] = []
  const reader = new DataUriReader((bytes) => pieces.push(bytes), bytesMax)
  let at = 0
  for (const size of sizes) {
    reader.push(text.slice(at, at + size))
    at += size
  }
  reader.push(text.slice(at))
  return { value: reader.end(), content: Buffer.concat(pieces) }
}

test('the reader returns the bytes of a data URI, with or without padding, in portions of any size', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), fc.array(fc.nat({ max: 40 })), (bytes, pad, sizes) => {
      const base64 = Buffer.from(bytes).toString('base64')
      const { value, content } = read(`data:a/b;base64,${pad ? base64 : base64.replaceAll('=', '')}`, sizes)
      expect(value).toEqual({ kind: 'content', mime: 'a/b', size: bytes.length })
      expect(content).toEqual(Buffer.from(bytes))
    }),
    { numRuns: 500 },
  )
})

test('the reader accepts every valid header of a data URI', () => {
  for (const [head, mime] of [
    ['data:;base64,', ''],
    ['DATA:image/png;BASE64,', 'image/png'],
    ['data:text/plain;charset=utf-8;base64,', 'text/plain;charset=utf-8'],
  ] as const) {
    expect(read(`${head}QQ==`).value).toEqual({ kind: 'content', mime, size: 1 })
  }
})

test('the reader reports the error in a malformed data URI', () => {
  const wrong = [
    'Q',
    'QUJDR',
    'QQ=',
    'Q===',
    'QQ==QQ==',
    'Q Q=',
    'QUJ D',
    'QUI-',
    'QUI_',
    '====',
    'QUJDé',
    'QQ==\n',
    '%41',
  ]
  for (const content of wrong) {
    expect(read(`data:a/b;base64,${content}`).value).toEqual({
      kind: 'malformed',
      reason: expect.stringContaining('base64'),
    })
    expect(read(`data:a/b;base64,${content}`, [1, 20, 1, 1, 1]).value.kind).toBe('malformed')
  }
  for (const text of ['data:a/b,QQ==', 'data:', 'data:a/b;base64', 'data:a/b;base64;x,QQ=='])
    expect(read(text).value.kind).toBe('malformed')
})

test('the reader keeps a URL unchanged, unless it is too long', () => {
  expect(read('https://example.org/a,b', [3, 4]).value).toEqual({ kind: 'text', text: 'https://example.org/a,b' })
  expect(read('').value).toEqual({ kind: 'text', text: '' })
  expect(read('A'.repeat(100_000)).value.kind).toBe('malformed')
  expect(read(`data:${'A'.repeat(100_000)}`).value.kind).toBe('malformed')
})

test('the reader accepts a file of the maximum size, and not one byte more', () => {
  const base64 = Buffer.alloc(100, 7).toString('base64')
  expect(read(`data:;base64,${base64}`, [], 100).value.kind).toBe('content')
  expect(read(`data:;base64,${base64}`, [40, 20, 20], 99).value).toEqual({ kind: 'large' })
})
