import { messageOf } from '../domain/errors.ts'
import type { SpanAttempt } from '../domain/log.ts'
import type { OutboundRequest } from '../domain/outbound-request.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { type ApiAnswer, failedAnswer, readOutcome } from './api-answer.ts'
import { isFileObject } from './api-files.ts'
import { check, modeOfBody, Parameters } from './api-parameters.ts'
import { requestOf } from './api-request.ts'
import { pauseBeforeRetry, spanAttempt } from './retry.ts'

/** Sends an HTTP request and exposes its answer; tries again what may pass by itself. */
export const api = defineBlock({
  type: 'api',
  label: 'API',
  description: 'Sends an HTTP request to a service and reads its answer.',
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
  let answer: ApiAnswer
  try {
    const request = await requestOf(params, context)
    answer = await stored(await answerOf(request, params.retries, attempts, context), context)
  } catch (error) {
    if (!(error instanceof BlockError)) throw error
    answer = failedAnswer(error.code, error.message)
  }
  context.note({ attempts })
  const { data, status, headers, failure } = answer
  const error = failure && { code: failure.code, message: failure.message, attempts: attempts.length }
  return { outputs: { data, status, headers, error }, ...(error ? { error } : {}) }
}

/** Puts a body that is no text into the storage. */
async function stored(answer: ApiAnswer, { files }: BlockContext): Promise<ApiAnswer> {
  const { content } = answer
  if (!content) return answer
  try {
    return { ...answer, data: await files.store(content.bytes, content), content: null }
  } catch (error) {
    if (answer.failure) return answer
    const message = `The answer is a file, and it could not be stored: ${messageOf(error)}`
    return { ...answer, failure: { code: 'STORAGE_UNAVAILABLE', message, mayPass: false } }
  }
}

/** Sends the request until it has an answer, or a failure that another attempt would not cure. */
async function answerOf(
  request: OutboundRequest,
  retries: number,
  attempts: SpanAttempt[],
  context: BlockContext,
): Promise<ApiAnswer> {
  const { clock } = context
  for (;;) {
    const startTime = clock.now()
    const startedAt = clock.monotonic()
    const answer = readOutcome(await context.fetch(request), request)
    const { status, failure, retryAfter } = answer
    const message = failure?.message
    attempts.push(spanAttempt(attempts.length + 1, startTime, clock.monotonic() - startedAt, { status, message }))
    if (!failure?.mayPass || attempts.length > retries) return answer
    const pause = await pauseBeforeRetry(attempts.length, retryAfter, context)
    if (pause === 'ended') {
      const cancelled = 'The run ended before another attempt'
      return { ...answer, failure: { code: 'CANCELLED', message: cancelled, mayPass: false } }
    }
    if (pause !== 'again') return { ...answer, failure: { ...failure, message: `${message}; ${pause.refusal}` } }
  }
}
