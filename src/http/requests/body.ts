import type { Static, TSchema } from '@sinclair/typebox'
import { AppError } from '../../domain/errors.ts'
import { readJson } from '../../domain/text/json.ts'
import { findValidationErrors } from '../../domain/workflow/shape.ts'
import { acceptEncoding, bodyReaderOf, brokenEncoding, encodingsOf } from '../../outbound/body-reader.ts'

/**
 * Reads a request's body as text. `bytesMax` limits the decompressed bytes. Throws `PAYLOAD_TOO_LARGE`, or
 * `INVALID_JSON` for text that is not UTF-8.
 */
export function readBody(request: Request, bytesMax: number): Promise<string> {
  // Nearly all requests take this path. It awaits as little as possible, because each promise costs throughput.
  if (isPlain(request, bytesMax)) return request.bytes().then(textOf, rejectBroken)
  return readBytes(request, bytesMax).then(textOf)
}

function textOf(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (cause) {
    throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.', { cause })
  }
}

/** Reads a request's body and decompresses it. Throws `PAYLOAD_TOO_LARGE` beyond `bytesMax`. */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (isPlain(request, bytesMax)) return await request.bytes().catch(rejectBroken)
  return Buffer.concat(await Array.fromAsync(readChunks(request, bytesMax)))
}

/** Reads a request's body as JSON. The Content-Type is ignored. */
export async function readJsonBody(request: Request, bytesMax: number): Promise<unknown> {
  return readJson(await readBody(request, bytesMax))
}

/** Reads a request's body as JSON and checks it against a schema. Throws INVALID_INPUT with one detail per error. */
export async function readShape<const Schema extends TSchema>(
  request: Request,
  schema: Schema,
  bytesMax: number,
): Promise<Static<Schema>> {
  const body = await readJsonBody(request, bytesMax)
  const details = findValidationErrors(schema, body)
  if (details.length === 0) return body as Static<Schema>
  throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
}

/** Reads a request's body in chunks and decompresses it. Throws like `readBody`. */
export async function* readChunks(request: Request, bytesMax: number): AsyncGenerator<Uint8Array> {
  refuseOversized(request.headers, bytesMax)
  refuseUnknownEncoding(request.headers)
  refuseTrailers(request.headers)
  const declared = declaredBytes(request.headers)
  const isCounted = declared !== undefined && !request.headers.has('content-encoding')
  let length = 0
  const reader = bodyReaderOf(request)
  try {
    for (;;) {
      const chunk = await reader.read().catch(rejectBroken)
      if (!chunk) break
      length += chunk.byteLength
      // Counted while reading: a body may declare no length, and a small compressed one may expand without limit.
      if (length > bytesMax) throw tooLarge(bytesMax)
      yield chunk
    }
    // When a caller disconnects, the stream may end as if the body were complete.
    if (isCounted && length < declared) throw brokenOff()
  } finally {
    reader.cancel()
  }
}

/** Refuses a body whose declared length is over the limit, before anything else is checked. */
export function refuseOversized(headers: Headers, bytesMax: number): void {
  const declared = declaredBytes(headers)
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax)
}

/** Strict: otherwise invalid bytes would silently become replacement characters. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a body declares an allowed length and is not compressed. */
function isPlain({ headers }: Request, bytesMax: number): boolean {
  const declared = declaredBytes(headers)
  return declared !== undefined && declared <= bytesMax && !headers.has('content-encoding')
}

/** Undefined for a body of unknown length (sent in chunks). */
function declaredBytes(headers: Headers): number | undefined {
  const header = headers.get('content-length')
  return header === null ? undefined : Number(header)
}

/** Bun 1.4.5 cannot read trailers: it sends a bare 400 after the body was read, when a run may already have started. */
function refuseTrailers(headers: Headers): void {
  if (headers.has('trailer')) {
    throw new AppError('INVALID_INPUT', 'Trailers are not supported. Send the body without them.')
  }
}

function refuseUnknownEncoding(headers: Headers): void {
  const encoding = headers.get('content-encoding')
  if (encoding === null || encodingsOf(encoding)) return
  const message = `The body is encoded with "${encoding}", which is not supported. Use ${acceptEncoding}, at most three at once.`
  throw new AppError('INVALID_INPUT', message)
}

function rejectBroken(cause: unknown): never {
  const isOfEncoding = (cause as { code?: unknown } | null)?.code === brokenEncoding
  throw isOfEncoding ? new AppError('INVALID_INPUT', 'The body does not match its Content-Encoding.') : brokenOff(cause)
}

/** The caller disconnected while sending. Nobody reads this response, but it must not count as an internal error. */
function brokenOff(cause?: unknown): AppError {
  return new AppError('INVALID_INPUT', 'The connection ended before the body was complete.', { cause })
}

function tooLarge(bytesMax: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than ${bytesMax} bytes, the most that this route accepts.`,
  )
}
