import { type Static, Type as t } from '@sinclair/typebox'
import { messageOf } from '../domain/errors.ts'
import type { SpanAttempt } from '../domain/log.ts'
import type { OutboundRequest } from '../domain/outbound-request.ts'
import { OnError } from '../domain/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock, type ParameterFinding } from '../engine/block.ts'
import { type ApiAnswer, failedAnswer, readOutcome } from './api-answer.ts'
import { isFileObject } from './api-files.ts'
import { hasBody, requestOf } from './api-request.ts'
import { pauseBeforeRetry, spanAttempt } from './retry.ts'

export const Parameters = t.Object({
  url: t.String({ title: 'URL', description: 'http:// or https://, with :name or {name} for path parameters.' }),
  method: t.Union([t.Literal('GET'), t.Literal('POST'), t.Literal('PUT'), t.Literal('DELETE'), t.Literal('PATCH')], {
    default: 'GET',
    title: 'Method',
  }),
  params: keyValues('Query parameters', 'Added to the query that the URL has already. An empty key is left out.'),
  headers: keyValues('Headers', 'Host, Content-Length and those about the connection are set by the service.'),
  pathParams: t.Optional(
    t.Record(t.String(), t.Unknown(), {
      title: 'Path parameters',
      description: 'Values for :name and {name} in the path of the URL; they are percent-encoded.',
    }),
  ),
  body: t.Optional(t.Unknown({ title: 'Body', description: 'Sent with POST, PUT and PATCH.' })),
  bodyType: t.Union(
    [t.Literal('json'), t.Literal('text'), t.Literal('form'), t.Literal('multipart'), t.Literal('file')],
    { default: 'json', title: 'Body type' },
  ),
  file: t.Optional(t.Unknown({ title: 'File', description: 'The file to send, for the body type "file".' })),
  timeoutMs: t.Integer({
    default: 30_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Milliseconds for one attempt, from its start to the last byte of the answer.',
  }),
  retries: t.Integer({
    default: 3,
    minimum: 0,
    maximum: 10,
    title: 'Retries',
    description: 'Further attempts after a timeout, a failed connection, or an answer with status 429 or 5xx.',
  }),
  followRedirects: t.Integer({
    default: 5,
    minimum: 0,
    maximum: 20,
    title: 'Redirects',
    description: 'Redirects followed at most; with 0 the redirect itself is the answer.',
  }),
  onError: t.Union(OnError.anyOf, { default: 'stop', title: 'On error' }),
})
export type Parameters = Static<typeof Parameters>

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

/** Only a JSON body that is sent is a JSON template: any other is text, and an empty one stands for none. */
function modeOfBody({ method = 'GET', bodyType = 'json', body }: Readonly<Record<string, unknown>>) {
  const empty = typeof body === 'string' && body.trim() === ''
  return bodyType === 'json' && typeof method === 'string' && hasBody(method) && !empty ? 'json' : 'template'
}

function check(params: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { url, pathParams } = params as Partial<Parameters>
  const findings: ParameterFinding[] = []
  if (url === undefined) return findings
  if (!/^\s*https?:\/\/[^/?#\\]/i.test(url)) {
    const message = `"${url}" can't be called: a URL starts with http:// or https:// and a host.`
    findings.push({ level: 'error', code: 'INVALID_URL', path: 'url', message })
  }
  for (const name of Object.keys(pathParams ?? {})) {
    if (url.includes(`:${name}`) || url.includes(`{${name}}`)) continue
    const message = `The URL has no place for the path parameter "${name}": neither :${name} nor {${name}}.`
    findings.push({ level: 'warning', code: 'UNUSED_PATH_PARAMETER', path: `pathParams.${name}`, message })
  }
  return findings
}

function keyValues(title: string, description: string) {
  return t.Optional(t.Array(t.Object({ key: t.String(), value: t.Optional(t.Unknown()) }), { title, description }))
}
