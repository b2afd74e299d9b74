import type { Static, TSchema } from '@sinclair/typebox'
import { AppError } from '../domain/errors.ts'
import { readJson } from '../domain/text/json.ts'
import { findMisfits } from '../domain/workflow/shape.ts'
import { acceptEncoding, bodyReaderOf, brokenEncoding, encodingsOf } from '../outbound/body-reader.ts'

/**
 * A request's body as text, at most `bytesMax` bytes of it; all of them are counted as they are when decompressed. Throws
 * `PAYLOAD_TOO_LARGE`, or `INVALID_JSON` for text that is not UTF-8.
 */
export function readBody(request: Request, bytesMax: number): Promise<string> {
  // What nearly all requests are, in as few steps as there can be: each promise counts where requests are answered by the ten thousand.
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

/** A request's body, decompressed, at most `bytesMax` bytes of it. Throws `PAYLOAD_TOO_LARGE`. */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (isPlain(request, bytesMax)) return await request.bytes().catch(rejectBroken)
  return Buffer.concat(await Array.fromAsync(readChunks(request, bytesMax)))
}

/** A request's body as JSON. Its Content-Type is not looked at. */
export async function readJsonBody(request: Request, bytesMax: number): Promise<unknown> {
  return readJson(await readBody(request, bytesMax))
}

/** A request's body as JSON of a shape. INVALID_INPUT with one row for each misfit. */
export async function readShape<const Schema extends TSchema>(
  request: Request,
  schema: Schema,
  bytesMax: number,
): Promise<Static<Schema>> {
  const body = await readJsonBody(request, bytesMax)
  const details = findMisfits(schema, body)
  if (details.length === 0) return body as Static<Schema>
  throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
}

/** A request's body piece by piece, decompressed, at most `bytesMax` bytes of it. Throws like `readBody`. */
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
      // Counted while it is read, so that neither a body without a length nor one that is mostly air can fill the memory.
      if (length > bytesMax) throw tooLarge(bytesMax)
      yield chunk
    }
    // A caller that goes away may end the stream as if it were complete.
    if (isCounted && length < declared) throw brokenOff()
  } finally {
    reader.cancel()
  }
}

/** Refuses, before anything else is looked at, a body that says itself that no route takes it. */
export function refuseOversized(headers: Headers, bytesMax: number): void {
  const declared = declaredBytes(headers)
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax)
}

/** Strict, because bytes that are no text would silently become other characters. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a body is of a known size that is taken, and not compressed. */
function isPlain({ headers }: Request, bytesMax: number): boolean {
  const declared = declaredBytes(headers)
  return declared !== undefined && declared <= bytesMax && !headers.has('content-encoding')
}

/** Undefined for a body of unknown length (sent in chunks). */
function declaredBytes(headers: Headers): number | undefined {
  const header = headers.get('content-length')
  return header === null ? undefined : Number(header)
}

/** What Bun 1.4.5 cannot read it responds with a bare 400, when the body was handed over and a run may have begun. */
function refuseTrailers(headers: Headers): void {
  if (headers.has('trailer')) {
    throw new AppError('INVALID_INPUT', 'Trailers are not read here: send the body without them.')
  }
}

function refuseUnknownEncoding(headers: Headers): void {
  const encoding = headers.get('content-encoding')
  if (encoding === null || encodingsOf(encoding)) return
  const message = `The body is encoded with "${encoding}", which is not read here. Known are ${acceptEncoding}, three of them at most.`
  throw new AppError('INVALID_INPUT', message)
}

function rejectBroken(cause: unknown): never {
  const isOfEncoding = (cause as { code?: unknown } | null)?.code === brokenEncoding
  throw isOfEncoding
    ? new AppError('INVALID_INPUT', 'The body is not what its Content-Encoding says.')
    : brokenOff(cause)
}

/** The caller went away while sending; nobody reads this response, but it is no error of ours. */
function brokenOff(cause?: unknown): AppError {
  return new AppError('INVALID_INPUT', 'The connection ended before the body was complete.', { cause })
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${bytesMax} bytes, the most that is taken here.`)
}
