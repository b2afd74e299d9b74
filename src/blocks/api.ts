import { messageOf } from '../domain/errors.ts'
import type { OutboundOutcome, OutboundRequest } from '../domain/outbound-request.ts'
import type { SpanAttempt } from '../domain/run/log.ts'
import { finish, largeBytes } from '../domain/slices.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { isFileObject } from './api-files.ts'
import { check, modeOfBody, Parameters } from './api-parameters.ts'
import { requestOf } from './api-request.ts'
import { type ApiResponse, failedResponse, readOutcome } from './api-response.ts'
import { pauseBeforeRetry, spanAttempt } from './retry.ts'

/** Sends an HTTP request and outputs the response. Retries temporary failures. */
export const api = defineBlock({
  type: 'api',
  label: 'API',
  description: 'Sends an HTTP request to a service and reads the response.',
  kind: 'step',
  parameters: Parameters,
  modes: { body: modeOfBody },
  outputs: ['data', 'status', 'headers', 'error'],
  mayFail: true,
  check,
  restore: ({ data }, { files }) => {
    if (isFileObject(data)) files.restore(data)
  },
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  const attempts: SpanAttempt[] = []
  let response: ApiResponse
  try {
    const { credential = '' } = params
    const request = await requestOf(params, context)
    if (credential !== '') request.authorization = await context.credential(credential)
    response = await stored(await responseOf(request, params, attempts, context), context)
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    response = failedResponse(error.code, error.message)
  }
  context.note({ attempts })
  const { data, status, headers, failure } = response
  const error = failure && { code: failure.code, message: failure.message, attempts: attempts.length }
  return { outputs: { data, status, headers, error }, ...(error ? { error } : {}) }
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

function readResponse(
  outcome: OutboundOutcome,
  params: Parameters,
  { inSlices }: BlockContext,
): ApiResponse | Promise<ApiResponse> {
  const reading = readOutcome(outcome, params)
  return outcome.ok && outcome.response.body.byteLength > largeBytes ? inSlices(reading) : finish(reading)
}

/** Sends the request until it gets a response, or fails in a way that a retry would not change. */
async function responseOf(
  request: OutboundRequest,
  params: Parameters,
  attempts: SpanAttempt[],
  context: BlockContext,
): Promise<ApiResponse> {
  const { clock } = context
  for (;;) {
    const startTime = clock.now()
    const startedAt = clock.monotonic()
    const response = await readResponse(await context.fetch(request), params, context)
    const { status, failure, retryAfter } = response
    const message = failure?.message
    attempts.push(spanAttempt(attempts.length + 1, startTime, clock.monotonic() - startedAt, { status, message }))
    if (!failure?.isTemporary || attempts.length > params.retries) return response
    const pause = await pauseBeforeRetry(attempts.length, retryAfter, context)
    if (pause === 'ended') {
      const cancelled = 'The run ended before the next attempt'
      return { ...response, failure: { code: 'CANCELLED', message: cancelled, isTemporary: false } }
    }
    if (pause !== 'again') return { ...response, failure: { ...failure, message: `${message}; ${pause.refusal}` } }
  }
}
