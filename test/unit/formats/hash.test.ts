import { afterAll, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { Desk, valueInput } from '../../support/formats/desk.ts'

const desk = new Desk()
afterAll(() => desk[Symbol.asyncDispose]())

const text = 'Grüße 😀'
const bytes = Buffer.alloc(3_000_000, text)

test('the hash of a text, a value and a file is that of its bytes', async () => {
  for (const algorithm of ['sha256', 'sha1', 'sha512', 'md5']) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const hashOf = (content: string | Buffer) => createHash(algorithm).update(content).digest(encoding)
      expect((await desk.do('hash', text, { algorithm, encoding })).data).toBe(hashOf(text))
      expect((await desk.do('hash', desk.file(bytes), { algorithm, encoding })).data).toBe(hashOf(bytes))
      expect((await desk.do('hash', valueInput({ a: 1 }), { algorithm, encoding })).data).toBe(hashOf('{"a":1}'))
    }
  }
  expect((await desk.do('hash', '')).data).toBe(createHash('sha256').update('').digest('hex'))
})

test('a signature is that of other programs', async () => {
  for (const algorithm of ['sha256', 'sha1', 'sha512', 'md5']) {
    const expected = (content: string | Buffer) => createHmac(algorithm, 'key').update(content).digest('hex')
    expect((await desk.do('hmac', text, { algorithm, secret: 'key' })).data).toBe(expected(text))
    expect((await desk.do('hmac', desk.file(bytes), { algorithm, secret: 'key' })).data).toBe(expected(bytes))
  }
})

test('a signature needs a secret, and a hash an algorithm that exists', async () => {
  expect(await desk.fails('hmac', text)).toContain('The option "secret" is empty')
  expect(await desk.fails('hash', text, { algorithm: 'crc32' })).toContain('must be one of sha256, sha1, sha512, md5')
})
