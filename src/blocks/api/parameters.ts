import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { Pagination } from '../../domain/pagination/pagination.ts'
import { recordOf } from '../../domain/record-of.ts'
import { OnError } from '../../domain/workflow/workflow.ts'
import type { ParameterFinding } from '../../engine/block.ts'

const responseTypes = ['auto', 'json', 'text', 'lines', 'file'] as const
export type ResponseType = (typeof responseTypes)[number]

const Pace = t.Object(
  {
    perSecond: t.Number({
      minimum: 0.01,
      maximum: 1_000,
      title: 'Requests per second',
      description: 'Further requests wait. With 0.5, one is sent every two seconds.',
    }),
  },
  {
    additionalProperties: false,
    title: 'Pace',
    description:
      'Covers all requests of the workspace with this credential, or to this host if there is no credential.',
  },
)

/** The most items of one batch. Each of them is a request of its own. */
export const batchItemsMax = 10_000

const Batch = t.Object(
  {
    over: t.Unknown({ title: 'List', description: 'The list, such as <start.customers>.' }),
    concurrency: t.Optional(
      t.Integer({
        default: 5,
        minimum: 1,
        maximum: 50,
        title: 'At once',
        description: 'Requests that may be in progress at the same time.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'Batch',
    description:
      'Sends the request once for each item of a list. The other parameters read <batch.item> and <batch.index>. The ' +
      'output data is then the list of the responses.',
  },
)

/** The parameters of every block that sends requests. */
export const attemptParameters = {
  timeoutMs: t.Integer({
    default: 30_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Milliseconds for one attempt, from its start to the last byte of the response.',
  }),
  retries: t.Integer({
    default: 3,
    minimum: 0,
    maximum: 10,
    title: 'Retries',
    description: 'Further attempts after a timeout, a failed connection, or a response with status 429 or 5xx.',
  }),
}

export const Parameters = t.Object({
  url: t.String({ title: 'URL', description: 'http:// or https://, with :name or {name} for path parameters.' }),
  method: oneOf(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'], { default: 'GET', title: 'Method' }),
  credential: t.Optional(
    t.String({
      title: 'Credential',
      description: 'The name of a credential of the workspace. It is sent to its own hosts only.',
    }),
  ),
  params: keyValues('Query parameters', 'Appended to the query of the URL. Entries with an empty key are skipped.'),
  headers: keyValues('Headers', 'The service sets Host, Content-Length and the connection headers.', {
    secret: 'headers',
  }),
  pathParams: t.Optional(
    recordOf(t.Unknown(), {
      maxProperties: 100,
      title: 'Path parameters',
      description: 'Values for :name and {name} in the path of the URL. They are percent-encoded.',
    }),
  ),
  body: t.Optional(t.Unknown({ title: 'Body', description: 'Sent with POST, PUT and PATCH.' })),
  bodyType: oneOf(['json', 'text', 'form', 'multipart', 'file'], {
    default: 'json',
    title: 'Body type',
    labels: { json: 'JSON', text: 'Text', form: 'Form', multipart: 'Form with files (multipart)', file: 'File' },
  }),
  file: t.Optional(t.Unknown({ title: 'File', description: 'The file to send, for the body type “File”.' })),
  expect: t.Optional(
    t.Array(t.Integer({ minimum: 100, maximum: 599 }), {
      maxItems: 100,
      title: 'Expected statuses',
      description: 'Statuses from 400 on that are not failures, such as 404.',
    }),
  ),
  responseType: oneOf(responseTypes, {
    default: 'auto',
    title: 'Read the response as',
    description: 'Automatic follows the content type. Lines are parsed when each is a JSON object or list.',
    labels: { auto: 'Automatic', json: 'JSON', text: 'Text', lines: 'Lines', file: 'File' },
  }),
  pagination: t.Optional(Pagination),
  pace: t.Optional(Pace),
  batch: t.Optional(Batch),
  ...attemptParameters,
  followRedirects: t.Integer({
    default: 5,
    minimum: 0,
    maximum: 20,
    title: 'Redirects',
    description: 'Redirects to follow at most. With 0, the redirect itself is the response.',
  }),
  onError: { ...OnError, default: 'stop' },
})
export type Parameters = Static<typeof Parameters>

/** Only a JSON body that is sent is a JSON template. Other bodies are text, and an empty one means no body. */
export function modeOfBody({ method = 'GET', bodyType = 'json', body }: Readonly<Record<string, unknown>>) {
  const empty = typeof body === 'string' && body.trim() === ''
  return bodyType === 'json' && typeof method === 'string' && hasBody(method) && !empty ? 'json' : 'template'
}

export function hasBody(method: string): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

export function check(params: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { url, pathParams, pagination, responseType, method = 'GET', bodyType = 'json' } = params as Partial<Parameters>
  const findings: ParameterFinding[] = []
  if (url === undefined) return findings
  if (!/^\s*https?:\/\/[^/?#\\]/i.test(url)) {
    const message =
      url.trim() === ''
        ? 'URL is empty.'
        : `URL cannot be called: "${url}". It must start with http:// or https:// and a host name.`
    findings.push({ level: 'error', code: 'INVALID_URL', path: 'url', message })
  }
  if (pagination && !['auto', 'json', 'lines'].includes(responseType ?? 'auto')) {
    const message = `Pagination needs a response that is read as JSON or lines, not as ${responseType}.`
    findings.push({ level: 'error', code: 'INVALID_PARAMETER', path: 'responseType', message })
  }
  if (
    pagination &&
    pagination.type !== 'link' &&
    pagination.in === 'body' &&
    (!hasBody(method) || bodyType !== 'json')
  ) {
    const message = 'Pagination can send the page in the body only with the method POST, PUT or PATCH and a JSON body.'
    findings.push({ level: 'error', code: 'INVALID_PARAMETER', path: 'pagination.in', message })
  }
  for (const name of Object.keys(pathParams ?? {})) {
    if (url.includes(`:${name}`) || url.includes(`{${name}}`)) continue
    const message = `The path parameter "${name}" is unused: the URL contains neither :${name} nor {${name}}.`
    findings.push({ level: 'warning', code: 'UNUSED_PATH_PARAMETER', path: `pathParams.${name}`, message })
  }
  return findings
}

function keyValues(title: string, description: string, more: { secret?: 'headers' } = {}) {
  const entry = t.Object({ key: t.String(), value: t.Optional(t.Unknown()) })
  return t.Optional(t.Array(entry, { title, description, ...more }))
}
