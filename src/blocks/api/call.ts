import { messageOf } from '../../domain/errors.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import { limitSettings } from '../../domain/limits.ts'
import type { OutboundOutcome, OutboundRequest } from '../../domain/outbound-request.ts'
import { type PageRequest, Paging, PagingError } from '../../domain/pagination/paging.ts'
import type { SpanAttempt } from '../../domain/run/log.ts'
import { finish, largeBytes } from '../../domain/slices.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { pauseBeforeRetry, spanAttempt } from '../retry.ts'
import type { Parameters } from './parameters.ts'
import { requestOf } from './request.ts'
import { type ApiFailure, type ApiResponse, failedResponse, readOutcome, withoutQuery } from './response.ts'

/** The parameters of one call: of one request, or of one for each page of a list. */
export type ApiCall = Omit<Parameters, 'batch' | 'onError'> & {
  /**
   * Reads what went wrong from the data of a response: undefined for a success, and an empty text for a failure that
   * the response does not explain. A status in `expect` is a success in any case.
   */
  judge?: (data: unknown, status: number) => string | undefined
}

/** How a call ended. `attempts`: of its last request. `isCut`: the list in pages has more items than were read. */
export type ApiResult = ApiResponse & { attempts: readonly SpanAttempt[]; isCut?: boolean }

/**
 * Sends the request of a call, or those for all pages. Retries temporary failures. Never throws a `BlockError`. `part`
 * tells the calls of one block apart.
 */
export async function callApi(call: ApiCall, context: BlockContext, part = ''): Promise<ApiResult> {
  try {
    return call.pagination ? await readPages(call, call.pagination, context, part) : await send(call, context, part)
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    return { ...failedResponse(error.code, error.message), attempts: [] }
  }
}

async function readPages(
  call: ApiCall,
  pagination: NonNullable<ApiCall['pagination']>,
  context: BlockContext,
  part: string,
): Promise<ApiResult> {
  const { blockBytesMax } = context.limits
  const paging = new Paging(pagination, call.url)
  const memory = context.holdMemory()
  let bytes = 0
  let page: PageRequest = paging.first()
  try {
    for (;;) {
      const number = paging.pages + 1
      const result = await send(
        call,
        context,
        number === 1 ? part : [part, `page-${number}`].filter(Boolean).join('-'),
        page,
      )
      if (result.failure) return failedPage(number, result, result.failure)
      const size = estimateSize(result.data, blockBytesMax)
      bytes += size
      memory.add(size)
      if (bytes > blockBytesMax) return failedPage(number, result, tooLarge(blockBytesMax))
      const next = nextPage(paging, result)
      if (next instanceof PagingError) return failedPage(number, result, misfit(next))
      if (!next) return { ...result, data: paging.items, isCut: paging.isCut }
      page = next
    }
  } finally {
    memory.end()
  }
}

function nextPage(paging: Paging, { data, headers, url }: ApiResult): PageRequest | PagingError | undefined {
  try {
    return paging.take({ data, headers: headers ?? {}, url: url ?? '' })
  } catch (error) {
    if (error instanceof PagingError) return error
    throw error
  }
}

function failedPage(number: number, result: ApiResult, failure: ApiFailure): ApiResult {
  return { ...result, failure: { ...failure, message: `Page ${number}: ${failure.message}` } }
}

function misfit({ message }: PagingError): ApiFailure {
  return { code: 'INVALID_RESPONSE', message, isTemporary: false }
}

function tooLarge(max: number): ApiFailure {
  const message =
    `the pages up to here take more than ${max} bytes (${limitSettings.blockBytesMax}). Read fewer pages, or ask for ` +
    'fewer fields.'
  return { code: 'RESPONSE_TOO_LARGE', message, isTemporary: false }
}

/** Sends one request until it gets a response, or fails in a way that a retry would not change. */
async function send(call: ApiCall, context: BlockContext, part: string, page?: PageRequest): Promise<ApiResult> {
  const { credential = '', pace } = call
  const request = await requestOf(call, part === '' ? context : ofPart(context, part), page)
  if (credential !== '') request.authorization = await context.credential(credential)
  if (pace) request.pace = { perSecond: pace.perSecond, of: credential }
  const attempts: SpanAttempt[] = []
  const response = await stored(await responseOf(request, call, attempts, context), context)
  return { ...response, attempts }
}

/** Each page and item is a request of its own, so a receiver must not take it for a repetition of another one. */
function ofPart(context: BlockContext, part: string) {
  const { signal, files, fetch } = context
  return { signal, files, fetch, idempotencyKey: () => `${context.idempotencyKey()}-${part}` }
}

async function responseOf(
  request: OutboundRequest,
  call: ApiCall,
  attempts: SpanAttempt[],
  context: BlockContext,
): Promise<ApiResponse> {
  const { clock } = context
  for (;;) {
    const startTime = clock.now()
    const startedAt = clock.monotonic()
    const response = judged(await readResponse(await context.fetch(request), call, context), call)
    const { status, failure, retryAfter } = response
    const message = failure?.message
    attempts.push(spanAttempt(attempts.length + 1, startTime, clock.monotonic() - startedAt, { status, message }))
    if (!failure?.isTemporary || attempts.length > call.retries) return response
    const pause = await pauseBeforeRetry(attempts.length, retryAfter, context)
    if (pause === 'ended') {
      const cancelled = 'The run ended before the next attempt'
      return { ...response, failure: { code: 'CANCELLED', message: cancelled, isTemporary: false } }
    }
    if (pause !== 'again') return { ...response, failure: { ...failure, message: `${message}; ${pause.refusal}` } }
  }
}

/** A response after the judgement of the call. A failure of the service itself may be temporary, as before. */
function judged(response: ApiResponse, { judge, method }: ApiCall): ApiResponse {
  const { data, status, failure, url } = response
  const isExpected = failure === null && status !== null && status >= 400
  const isAnswer = status !== null && !isExpected && (failure === null || failure.code === 'HTTP_ERROR')
  const problem = judge && isAnswer ? judge(data, status) : undefined
  if (!problem) return response
  if (failure) return { ...response, failure: { ...failure, message: `${failure.message}: ${shortened(problem)}` } }
  const message = `${method} ${withoutQuery(url ?? '')} failed: ${shortened(problem)}`
  return { ...response, failure: { code: 'OPERATION_FAILED', message, isTemporary: false } }
}

function shortened(text: string): string {
  return text.length > problemCharsMax ? `${text.slice(0, problemCharsMax)}…` : text
}

/** Characters of a service's own error that a message quotes. */
const problemCharsMax = 500

function readResponse(
  outcome: OutboundOutcome,
  call: ApiCall,
  { inSlices }: BlockContext,
): ApiResponse | Promise<ApiResponse> {
  const reading = readOutcome(outcome, call)
  return outcome.ok && outcome.response.body.byteLength > largeBytes ? inSlices(reading) : finish(reading)
}

/** Stores a body that is not text as a file. */
async function stored(response: ApiResponse, { files }: BlockContext): Promise<ApiResponse> {
  const { content } = response
  if (!content) return response
  try {
    return { ...response, data: await files.store(content.bytes, content), content: null }
  } catch (error) {
    if (response.failure) return response
    const message = `The response is a file, which could not be stored: ${messageOf(error)}`
    return { ...response, failure: { code: 'STORAGE_UNAVAILABLE', message, isTemporary: false } }
  }
}
