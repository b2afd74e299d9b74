import type { Static, TSchema } from '@sinclair/typebox'
import { AppError, problemsError } from '../../domain/errors.ts'
import { freeBytes } from '../../domain/free-bytes.ts'
import type { Limit } from '../../domain/limits.ts'
import { readJson } from '../../domain/text/json.ts'
import { findValidationErrors } from '../../domain/workflow/shape.ts'
import {
  acceptEncoding,
  type BodyReader,
  bodyReaderOf,
  brokenEncoding,
  decodedReader,
  encodingsOf,
} from '../../outbound/body-reader.ts'
import { uncountedBytes } from './body-budget.ts'
import type { BodyLimits } from './body-limits.ts'

/**
 * Reads a request's body as text. Throws `PAYLOAD_TOO_LARGE`, `OVERLOADED`, or `INVALID_JSON` for text that is not
 * UTF-8. A body of more than 64 KB counts in the budget until `limits.budget.release(request)`.
 */
export function readBody(request: Request, limits: BodyLimits): Promise<string> {
  // Nearly all requests take this path. It awaits as little as possible, because each promise costs throughput.
  if (isSmall(request, limits)) return request.bytes().then(textOf, rejectBroken)
  return readBytes(request, limits).then(textOfLarge)
}

/** Throws `INVALID_JSON` for bytes that are not UTF-8 text. */
export function textOf(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch (cause) {
    throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.', { cause })
  }
}

function textOfLarge(bytes: Uint8Array): string {
  try {
    return textOf(bytes)
  } finally {
    freeBytes(bytes)
  }
}

/** Reads a request's body and decompresses it. Throws and counts like `readBody`. */
export async function readBytes(request: Request, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  if (isSmall(request, limits)) return await request.bytes().catch(rejectBroken)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of readChunks(request, limits)) {
    length += chunk.byteLength
    if (length > uncountedBytes) limits.budget.add(request, chunk.byteLength, limits.visitor)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
    freeBytes(chunk)
  }
  return bytes
}

/** Parses the text of a body. A large one waits for its turn, and its values count in the budget. */
export function parseJsonBody(request: Request, text: string, limits: BodyLimits): unknown {
  const { values } = limits
  if (text.length <= uncountedBytes) return readJson(text, { values })
  return limits.turns.run(() => readJson(text, { values, count: countValues(request, limits) }))
}

/** For `readJson`. */
export function countValues(request: Request, { budget, visitor }: BodyLimits): (values: number) => void {
  return (values) => budget.addValues(request, values, visitor)
}

/** Reads a request's body as JSON, or `whenEmpty` instead of an empty one. The Content-Type is ignored. */
export async function readJsonBody(request: Request, limits: BodyLimits, whenEmpty = ''): Promise<unknown> {
  try {
    const parsed = parseJsonBody(request, (await readBody(request, limits)) || whenEmpty, limits)
    return parsed instanceof Promise ? await parsed : parsed
  } finally {
    limits.budget.release(request)
  }
}

/** Reads a request's body as JSON and checks it against a schema. Throws INVALID_INPUT with one detail per error. */
export async function readShape<const Schema extends TSchema>(
  request: Request,
  schema: Schema,
  limits: BodyLimits,
  whenEmpty = '',
): Promise<Static<Schema>> {
  const body = await readJsonBody(request, limits, whenEmpty)
  const details = findValidationErrors(schema, body)
  if (details.length === 0) return body as Static<Schema>
  throw problemsError('INVALID_INPUT', details)
}

/** The same for a body that callers may leave out, which then counts as `{}`. */
export async function readOptionalShape<const Schema extends TSchema>(
  request: Request,
  schema: Schema,
  limits: BodyLimits,
): Promise<Static<Schema>> {
  return await readShape(request, schema, limits, '{}')
}

/** Reads a request's body in chunks and decompresses it. Throws like `readBody`; counts nothing in the budget. */
export async function* readChunks(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const { headers } = request
  refuseOversized(headers, limits.bytes)
  refuseUnknownEncoding(headers)
  refuseTrailers(headers)
  const declared = declaredBytes(headers)
  const encoding = headers.get('content-encoding')
  const isCounted = declared !== undefined && encoding === null
  const compressed = countingReader(bodyReaderOf({ body: request.body, headers: new Headers() }))
  const reader = decodedReader(compressed, encoding)
  let length = 0
  let yieldedAt = 0
  try {
    for (;;) {
      const chunk = await reader.read().catch(rejectBroken)
      if (!chunk) break
      length += chunk.byteLength
      // Counted while reading: a body may declare no length, and a small compressed one may expand without limit.
      if (length > limits.bytes.max) throw tooLarge(limits.bytes)
      if (length > limits.uncheckedBytes && length > compressed.bytes * limits.ratio.max) throw tooDense(limits.ratio)
      yield chunk
      // Chunks that are already here arrive without a turn of the event loop, and so does their processing. One body
      // has a turn at a time: their number must not delay other requests.
      if (length - yieldedAt >= turnBytes) {
        yieldedAt = length
        await limits.turns.next()
      }
    }
    // When a caller disconnects, the stream may end as if the body were complete.
    if (isCounted && length < declared) throw brokenOff()
  } finally {
    reader.cancel()
  }
}

/** Counts the bytes that were read. */
function countingReader(reader: BodyReader): BodyReader & { bytes: number } {
  const counting = {
    bytes: 0,
    async read() {
      const chunk = await reader.read()
      counting.bytes += chunk?.byteLength ?? 0
      return chunk
    },
    cancel: () => reader.cancel(),
  }
  return counting
}

/** Refuses a body whose declared length is over the limit, before anything else is checked. */
export function refuseOversized(headers: Headers, bytes: Limit): void {
  const declared = declaredBytes(headers)
  if (declared !== undefined && declared > bytes.max) throw tooLarge(bytes)
}

/** Strict: otherwise invalid bytes would silently become replacement characters. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** Whether a body declares a length that is too small to count, and is not compressed. */
function isSmall({ headers }: Request, { bytes }: BodyLimits): boolean {
  const declared = declaredBytes(headers)
  return (
    declared !== undefined && declared <= uncountedBytes && declared <= bytes.max && !headers.has('content-encoding')
  )
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

function tooLarge({ max, setting }: Limit): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body is larger than ${max} bytes, the most that ${setting} allows.`)
}

function tooDense({ max, setting }: Limit): AppError {
  const message = `The body is compressed more than ${max} to 1, the most that ${setting} allows. Send it uncompressed.`
  return new AppError('PAYLOAD_TOO_LARGE', message)
}

/** After so many bytes of one body, other requests have a turn. */
const turnBytes = 131_072
