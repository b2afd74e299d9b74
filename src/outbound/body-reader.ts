/** Reads a body as it arrives, decompressed; `read` gives undefined at its end. */
export type BodyReader = {
  read(): Promise<Bytes | undefined>
  cancel(): void
}

/** The `code` of the error that `read` throws when a body does not match its Content-Encoding. */
export const brokenEncoding = 'BROKEN_ENCODING'

/** The default Accept-Encoding. Each of these can be decompressed here. */
export const acceptEncoding = 'gzip, deflate, br, zstd'

/** Reads the body of a response of `fetch`, or of a request that the server received, decompressed. */
export function bodyReaderOf({ body, headers }: Message): BodyReader {
  if (!body) return { read: async () => undefined, cancel: () => {} }
  return decodedReader(plainReader(body), headers.get('content-encoding'))
}

/**
 * Decompresses here and not in `fetch`. When a request is aborted in the middle of a compressed body, Bun 1.4.5 first
 * decompresses everything that has arrived: a quarter of a gigabyte for half a megabyte of zeros. These streams produce
 * no more than is read.
 */
export function decodedReader(reader: BodyReader, contentEncoding: string | null): BodyReader {
  const encodings = contentEncoding === null ? [] : encodingsOf(contentEncoding)
  // A body with an unknown encoding is passed on unchanged.
  return encodings && encodings.length > 0 ? decompressingReader(reader, encodings.toReversed()) : reader
}

/**
 * The encodings in a Content-Encoding, in the order of their application. Undefined when they cannot be decoded here.
 */
export function encodingsOf(contentEncoding: string): string[] | undefined {
  const names = contentEncoding.split(',').map((name) => name.trim().toLowerCase())
  const applied = names.filter((name) => name !== '' && name !== 'identity')
  return applied.length <= encodingsMax && applied.every((name) => formats.has(name)) ? applied : undefined
}

type Bytes = Uint8Array<ArrayBuffer>

type Message = { body: ReadableStream<Bytes> | null; headers: Headers }

function plainReader(body: ReadableStream<Bytes>): BodyReader {
  const reader = body.getReader()
  return {
    read: async () => (await reader.read()).value,
    cancel: () => void reader.cancel().catch(() => {}),
  }
}

function decompressingReader(compressed: BodyReader, encodings: readonly string[]): BodyReader {
  let plain: ReadableStreamDefaultReader<Bytes> | undefined
  return {
    async read() {
      if (!plain) {
        const first = await compressed.read()
        // Servers send no bytes for an empty body, although that is not valid in any format.
        if (!first) return undefined
        plain = decompressed(withFirst(first, compressed), encodings, first).getReader()
      }
      try {
        return (await plain.read()).value
      } catch (error) {
        // Errors of the connection pass through the decompression with their code. Its own have none, or these.
        const code = (error as { code?: unknown } | null)?.code
        if (typeof code === 'string' && !/^(ERR|Z)_/.test(code)) throw error
        throw Object.assign(new Error('Broken compression', { cause: error }), { code: brokenEncoding })
      }
    },
    cancel() {
      if (plain) plain.cancel().catch(() => {})
      else compressed.cancel()
    },
  }
}

function decompressed(body: ReadableStream<Bytes>, encodings: readonly string[], first: Bytes): ReadableStream<Bytes> {
  return encodings.reduce((stream, encoding, index) => {
    // Some servers omit the frame of "deflate", whose first byte always ends in 8 (hexadecimal).
    if (encoding === 'br') return stream.pipeThrough(brotliDecoder())
    const unframed = encoding === 'deflate' && index === 0 && (first[0]! & 0x0f) !== 8
    const format = unframed ? 'deflate-raw' : formats.get(encoding)!
    // The DOM's types know fewer formats than Bun does.
    return stream.pipeThrough(
      new DecompressionStream(format as CompressionFormat) as ReadableWritablePair<Bytes, Bytes>,
    )
  }, body)
}

/**
 * Decompresses in another thread: a decoder takes 4 ms before its first byte, and visitors may send hundreds of bodies
 * in a second. The module is loaded when it is needed.
 */
function brotliDecoder(): ReadableWritablePair<Bytes, Bytes> {
  const { createBrotliDecompress } = process.getBuiltinModule('node:zlib')
  const decoder = createBrotliDecompress({ chunkSize: 65_536 })
  return process.getBuiltinModule('node:stream').Duplex.toWeb(decoder) as unknown as ReadableWritablePair<Bytes, Bytes>
}

/** Small portions: a decompressor takes each of them in one step of the thread. For 1 MB, that is 70 ms. */
function withFirst(first: Bytes, rest: BodyReader): ReadableStream<Bytes> {
  let next: Bytes | undefined = first
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        next ??= await rest.read()
        if (!next) return controller.close()
        controller.enqueue(next.subarray(0, portionBytes))
        next = next.length > portionBytes ? next.subarray(portionBytes) : undefined
      },
      cancel: () => rest.cancel(),
    },
    { highWaterMark: 0 },
  )
}

const portionBytes = 16_384

const encodingsMax = 3

const formats: ReadonlyMap<string, Bun.CompressionFormat> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
  ['zstd', 'zstd'],
])
