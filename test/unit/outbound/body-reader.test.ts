import { describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { bodyReaderOf, brokenEncoding } from '../../../src/outbound/body-reader.ts'
import { until } from '../../support/outbound/peers.ts'

type Bytes = Uint8Array<ArrayBuffer>

const compressors: Record<string, (bytes: Uint8Array) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** A response whose body comes in parts of the given size. */
function responseWith(body: Uint8Array, encoding: string | undefined, partBytes = 1024): Response {
  let at = 0
  const stream = new ReadableStream<Bytes>({
    pull(controller) {
      if (at >= body.byteLength) return controller.close()
      controller.enqueue(new Uint8Array(body.subarray(at, at + partBytes)))
      at += partBytes
    },
  })
  return new Response(stream, encoding === undefined ? {} : { headers: { 'content-encoding': encoding } })
}

async function readAll(response: Response): Promise<Buffer> {
  const reader = bodyReaderOf(response)
  const parts: Bytes[] = []
  for (let part = await reader.read(); part; part = await reader.read()) parts.push(part)
  return Buffer.concat(parts)
}

const text = Buffer.from('hello '.repeat(1000))

describe('a body', () => {
  test.each(Object.keys(compressors))(
    'in %s that arrives at once is decompressed in small portions',
    async (encoding) => {
      const random = crypto.getRandomValues(new Uint8Array(65_536))
      const body = Buffer.concat(Array.from({ length: 16 }, (_, at) => random.map((byte) => byte ^ at)))
      const reader = bodyReaderOf(responseWith(compressors[encoding]!(body), encoding, Number.POSITIVE_INFINITY))
      const first = await reader.read()
      expect(first!.byteLength).toBeLessThan(200_000)
      const parts = [first!]
      for (let part = await reader.read(); part; part = await reader.read()) parts.push(part)
      expect(Buffer.concat(parts).equals(body)).toBe(true)
    },
  )

  test.each(Object.keys(compressors))('in %s is decoded correctly, in parts of any size', async (encoding) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5_000 }),
        fc.integer({ min: 1, max: 200 }),
        async (bytes, partBytes) => {
          const read = await readAll(responseWith(compressors[encoding]!(bytes), encoding, partBytes))
          expect(read.equals(bytes)).toBe(true)
        },
      ),
      { numRuns: 10 },
    )
  })

  test('in deflate may lack its frame, as from some servers', async () => {
    expect((await readAll(responseWith(deflateRawSync(text), 'deflate'))).equals(text)).toBe(true)
  })

  test('with several encodings is decoded in turn', async () => {
    const body = gzipSync(brotliCompressSync(text))
    expect((await readAll(responseWith(body, 'BR, identity , gzip'))).equals(text)).toBe(true)
  })

  test('without an encoding, or with an unknown one, is passed on unchanged', async () => {
    for (const encoding of [undefined, '', 'identity', 'nonsense', 'gzip, nonsense', 'gzip, gzip, gzip, gzip'])
      expect([encoding, (await readAll(responseWith(text, encoding))).equals(text)]).toEqual([encoding, true])
  })

  test('may be empty with any encoding, and may be absent', async () => {
    for (const encoding of Object.keys(compressors))
      expect((await readAll(responseWith(Buffer.alloc(0), encoding))).byteLength).toBe(0)
    expect((await readAll(new Response(null, { headers: { 'content-encoding': 'gzip' } }))).byteLength).toBe(0)
  })

  test.each(Object.keys(compressors))(
    'that is invalid %s or incomplete is never reported as complete',
    async (encoding) => {
      const whole = compressors[encoding]!(text)
      for (const body of [
        Buffer.from('this is no compressed text'),
        whole.subarray(0, whole.byteLength - 1),
        whole.subarray(0, 5),
      ])
        await expect(readAll(responseWith(body, encoding))).rejects.toMatchObject({ code: brokenEncoding })
    },
  )

  test('reports the reason when the connection fails', async () => {
    const failing = (first: Uint8Array) => {
      let sent = false
      return new ReadableStream<Bytes>({
        pull(controller) {
          if (sent) return controller.error(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))
          sent = true
          controller.enqueue(new Uint8Array(first))
        },
      })
    }
    for (const encoding of ['gzip', 'identity']) {
      const response = new Response(failing(gzipSync(text).subarray(0, 20)), {
        headers: { 'content-encoding': encoding },
      })
      await expect(readAll(response)).rejects.toMatchObject({ code: 'ECONNRESET' })
    }
  })

  test.each(['gzip', 'identity'])('in %s is read no further after it is cancelled', async (encoding) => {
    let cancelled = 0
    let asked = 0
    const zeros = encoding === 'gzip' ? gzipSync(Buffer.alloc(50_000_000)) : Buffer.alloc(50_000)
    const stream = new ReadableStream<Bytes>({
      pull(controller) {
        controller.enqueue(new Uint8Array(zeros.subarray(asked++ * 1000, asked * 1000)))
      },
      cancel: () => void cancelled++,
    })
    const reader = bodyReaderOf(new Response(stream, { headers: { 'content-encoding': encoding } }))
    await reader.read()
    reader.cancel()
    await until(() => cancelled === 1)
    expect(asked).toBeLessThan(10)
  })
})
