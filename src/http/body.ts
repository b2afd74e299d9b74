import type { Static, TSchema } from '@sinclair/typebox'
import { AppError } from '../domain/errors.ts'
import { readJson } from '../domain/json.ts'
import { findMisfits } from '../domain/shape.ts'

/** A request's body as text, at most `bytesMax` bytes of it. Throws `PAYLOAD_TOO_LARGE`, or `INVALID_JSON` for text that is not UTF-8. */
export function readBody(request: Request, bytesMax: number): Promise<string> {
  const declared = declaredBytes(request.headers)
  // What nearly all requests are, in as few steps as there can be: each promise counts where requests are answered by the ten thousand.
  if (declared !== undefined && declared <= bytesMax) return request.bytes().then(textOf, rejectBroken)
  return readBytes(request, bytesMax).then(textOf)
}

function textOf(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (cause) {
    throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.', { cause })
  }
}

/** A request's body as it came, at most `bytesMax` bytes of it. Throws `PAYLOAD_TOO_LARGE`. */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = declaredBytes(request.headers)
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax)
  try {
    if (declared !== undefined) return await request.bytes()
    return request.body === null ? new Uint8Array() : await readStream(request.body, bytesMax)
  } catch (error) {
    throw error instanceof AppError ? error : brokenOff(error)
  }
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

/** A request's body piece by piece, at most `bytesMax` bytes of it. Throws like `readBody`. */
export async function* readChunks(request: Request, bytesMax: number): AsyncGenerator<Uint8Array> {
  const declared = declaredBytes(request.headers)
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax)
  if (request.body === null) return
  let length = 0
  const reader = request.body.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((cause: unknown) => {
        throw brokenOff(cause)
      })
      if (done) break
      length += value.byteLength
      if (length > bytesMax) throw tooLarge(bytesMax)
      yield value
    }
    // A caller that goes away may end the stream as if it were complete.
    if (declared !== undefined && length < declared) throw brokenOff()
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Refuses, before anything else is looked at, a body that says itself that no route takes it. */
export function refuseOversized(headers: Headers, bytesMax: number): void {
  const declared = declaredBytes(headers)
  if (declared !== undefined && declared > bytesMax) throw tooLarge(bytesMax)
}

/** Strict, because bytes that are no text would silently become other characters. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for a body of unknown length (sent in chunks). */
function declaredBytes(headers: Headers): number | undefined {
  const header = headers.get('content-length')
  return header === null ? undefined : Number(header)
}

function rejectBroken(cause: unknown): never {
  throw brokenOff(cause)
}

/** The caller went away while sending; nobody reads this answer, but it is no error of ours. */
function brokenOff(cause?: unknown): AppError {
  return new AppError('INVALID_INPUT', 'The connection ended before the body was complete.', { cause })
}

/** Counts while it reads, so that a body without a length cannot fill the memory. */
async function readStream(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (length > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(bytesMax: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${bytesMax} bytes, the most that is taken here.`)
}
