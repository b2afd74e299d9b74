import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { Elysia } from 'elysia'
import { readBody, readChunks } from '../../../src/http/requests/body.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { chunk, sendRaw } from './raw.ts'
import { HttpWorld } from './world.ts'

const bytesMax = 100_000
const limits = bodyLimits({ bytes: bytesMax })
let world: HttpWorld
beforeAll(async () => {
  const routes = new Elysia()
    .post('/whole', async ({ request }) => ({ text: await readBody(request, limits) }), { parse: 'none' })
    .post(
      '/pieces',
      async ({ request }) => {
        const pieces = await Array.fromAsync(readChunks(request, limits))
        return { text: Buffer.concat(pieces).toString() }
      },
      { parse: 'none' },
    )
  world = await HttpWorld.open({ bodyBytesMax: bytesMax, routes: () => routes })
})
afterAll(() => world.close())

const text = JSON.stringify({ name: 'Jürgen', items: Array.from({ length: 500 }, (_, index) => index) })
const bytes = Buffer.from(text)
const encoders: Record<string, (plain: Buffer) => Uint8Array> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  'deflate, gzip': (plain) => gzipSync(deflateSync(plain)),
  identity: (plain) => plain,
}
const paths = ['/whole', '/pieces']

type Sent = { status: number; json: { text?: string; error?: string; code?: string } }

async function send(path: string, encoding: string, body: Uint8Array, parts = 1): Promise<Sent> {
  const line = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Encoding: ${encoding}\r\n`
  const size = Math.ceil(body.length / parts)
  const pieces = Array.from({ length: parts }, (_, index) => body.slice(index * size, (index + 1) * size))
  const response =
    parts === 1
      ? await sendRaw(world.port, [`${line}Content-Length: ${body.length}\r\n\r\n`, body])
      : await sendRaw(world.port, [
          `${line}Transfer-Encoding: chunked\r\n\r\n`,
          ...pieces.filter(({ length }) => length > 0).map((piece) => chunk(piece)),
          '0\r\n\r\n',
        ])
  // A raw response has one character per byte.
  return { status: response.status, json: JSON.parse(Buffer.from(response.body, 'latin1').toString()) }
}

describe('a compressed body', () => {
  for (const [encoding, encode] of Object.entries(encoders)) {
    test(`in ${encoding} is decompressed, with a length and without`, async () => {
      for (const path of paths) {
        for (const parts of [1, 3]) {
          expect(await send(path, encoding, encode(bytes), parts)).toEqual({ status: 200, json: { text } })
        }
      }
    })
  }

  test('counts with its decompressed size', async () => {
    const fits = gzipSync(Buffer.alloc(bytesMax, 'x'))
    const over = gzipSync(Buffer.alloc(bytesMax + 1, 'x'))
    for (const path of paths) {
      expect((await send(path, 'gzip', fits)).json.text?.length).toBe(bytesMax)
      const { status, json } = await send(path, 'gzip', over)
      expect({ status, code: json.code }).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
    }
  })

  test('that expands to many zeros takes no more memory than the part that is read', async () => {
    const once = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const bomb = Buffer.from(gzipSync(once))
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    for (const path of paths) {
      const { status } = await send(path, 'gzip, gzip', bomb)
      expect(status).toBe(413)
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024)
  })

  test('with a wrong encoding header is refused with an explanation', async () => {
    const refused = { error: 'The body does not match its Content-Encoding.', code: 'INVALID_INPUT' }
    for (const path of paths) {
      expect(await send(path, 'gzip', bytes)).toEqual({ status: 400, json: refused })
      expect(await send(path, 'gzip', gzipSync(bytes).subarray(0, 200))).toEqual({ status: 400, json: refused })
    }
  })

  test('in an unknown encoding is refused with a list of the known ones', async () => {
    const error =
      'The body is encoded with "lzma", which is not supported. Use gzip, deflate, br, zstd, at most three at once.'
    for (const path of paths) {
      expect(await send(path, 'lzma', bytes)).toEqual({ status: 400, json: { error, code: 'INVALID_INPUT' } })
    }
  })

  test('in "deflate" is also read without the zlib frame', async () => {
    expect((await send('/whole', 'deflate', deflateRawSync(bytes))).json).toEqual({ text })
  })

  test('that decompresses to nothing is an empty body', async () => {
    for (const path of paths) {
      expect(await send(path, 'gzip', new Uint8Array())).toEqual({ status: 200, json: { text: '' } })
    }
  })
})
