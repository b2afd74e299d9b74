import { type Static, Type as t } from '@sinclair/typebox'
import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../domain/backoff.ts'
import { sleep } from '../domain/clock.ts'
import type { SpanAttempt } from '../domain/log.ts'
import type { OutboundFailureCode, OutboundOutcome, OutboundRequest } from '../domain/outbound-request.ts'
import { OnError } from '../domain/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock, type ParameterFinding } from '../engine/block.ts'
import { contentOf } from './api-answer.ts'
import { type ApiRequest, hasBody, requestOf } from './api-request.ts'

const KeyValues = t.Array(t.Object({ key: t.String(), value: t.Optional(t.Unknown()) }))

const Parameters = t.Object({
  url: t.String({ title: 'URL', description: 'http:// or https://, with :name or {name} for path parameters.' }),
  method: t.Union([t.Literal('GET'), t.Literal('POST'), t.Literal('PUT'), t.Literal('DELETE'), t.Literal('PATCH')], {
    default: 'GET',
    title: 'Method',
  }),
  params: t.Optional({
    ...KeyValues,
    title: 'Query parameters',
    description: 'Added to the query that the URL has already. An entry with an empty key is left out.',
  }),
  headers: t.Optional({
    ...KeyValues,
    title: 'Headers',
    description: 'Host, Content-Length and those about the connection are set by the service.',
  }),
  pathParams: t.Optional(
    t.Record(t.String(), t.Unknown(), {
      title: 'Path parameters',
      description: 'Values for :name and {name} in the path of the URL, percent-encoded.',
    }),
  ),
  body: t.Optional(t.Unknown({ title: 'Body', description: 'Sent with POST, PUT and PATCH.' })),
  bodyType: t.Union(
    [t.Literal('json'), t.Literal('text'), t.Literal('form'), t.Literal('multipart'), t.Literal('file')],
    { default: 'json', title: 'Body type' },
  ),
  file: t.Optional(t.Unknown({ title: 'File', description: 'A file to send as the body.' })),
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
    description: 'Redirects followed at most; with 0 the redirect is the answer.',
  }),
  onError: t.Union(OnError.anyOf, { default: 'stop', title: 'On error' }),
})

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
  run,
})

/** Only a JSON body is a JSON template: a body of another type is text, and one that isn't sent need not be JSON. */
function modeOfBody(params: Readonly<Record<string, unknown>>) {
  const { body, bodyType = 'json', method } = params
  const sent = hasBody(typeof method === 'string' ? method : 'GET') || /[<{]/.test(String(method))
  const blank = typeof body === 'string' && body.trim() === ''
  return sent && !blank && bodyType === 'json' ? 'json' : 'template'
}

function check(params: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { url, pathParams } = params as Partial<Static<typeof Parameters>>
  const findings: ParameterFinding[] = []
  const add = (level: ParameterFinding['level'], code: string, path: string, message: string) =>
    findings.push({ level, code, path, message })
  if (url === undefined) return findings
  if (!/^https?:\/\/[^/?#\\]/i.test(url.trim()))
    add('error', 'INVALID_URL', 'url', `"${url}" is no URL to call: it must start with http:// or https:// and a host.`)
  for (const name of Object.keys(pathParams ?? {}))
    if (!url.includes(`:${name}`) && !url.includes(`{${name}}`))
      add('warning', 'UNUSED_PATH_PARAMETER', `pathParams.${name}`, `The URL has neither :${name} nor {${name}}.`)
  return findings
}

async function run(params: Static<typeof Parameters>, context: BlockContext): Promise<BlockResult> {
  let request: ApiRequest
  try {
    request = requestOf(params, () => context.idempotencyKey())
  } catch (error) {
    if (error instanceof BlockError) return resultOf({ code: error.code, message: error.message, retry: false }, 0)
    throw error
  }
  const attempts: SpanAttempt[] = []
  try {
    return await runAttempts({ ...request, signal: context.signal }, params.retries, attempts, context)
  } finally {
    context.note({ attempts })
  }
}

async function runAttempts(
  request: OutboundRequest,
  retries: number,
  attempts: SpanAttempt[],
  context: BlockContext,
): Promise<BlockResult> {
  const { clock, signal } = context
  for (let number = 1; ; number++) {
    const startTime = clock.now()
    const startedAt = clock.monotonic()
    const answered = readOutcome(await context.fetch(request), request)
    const { status, failure } = answered
    attempts.push({
      number,
      startTime,
      durationMs: clock.monotonic() - startedAt,
      ...(status === undefined ? {} : { status }),
      ...(failure ? { error: failure.message } : {}),
    })
    if (!failure?.retry || number > retries) return resultOf(answered, number)
    const asked = retryAfterMs(headerOf(answered, 'retry-after'), clock.now())
    const delayMs = delayWithRetryAfter(backoffMs(number, context.random()), asked)
    if (delayMs === undefined) {
      const message = `${failure.message}, and asks to be left alone for ${Math.ceil(asked! / 1000)} s`
      return resultOf({ ...answered, failure: { ...failure, message } }, number)
    }
    try {
      await sleep(clock, delayMs, signal)
    } catch {
      const cancelled = { code: 'CANCELLED', message: 'The run ended before the next attempt', retry: false }
      return resultOf({ ...answered, failure: cancelled }, number)
    }
  }
}
