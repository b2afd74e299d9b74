import { type Static, Type as t } from '@sinclair/typebox'
import { responseBytesMax } from '../domain/limits.ts'
import { oneOf } from '../domain/one-of.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import { fileBytesMax } from '../domain/run/file.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import { type BlockContext, BlockError, type BlockResult, defineBlock } from '../engine/block.ts'
import { fileToSend, isFileObject } from './api/files.ts'
import { listedObjects, objectUrl, refusalIn } from './s3/objects.ts'

const Parameters = t.Object({
  credential: t.String({
    minLength: 1,
    title: 'Credential',
    description: 'The name of a credential of the kind AWS signature, with the service s3.',
  }),
  operation: oneOf(['get', 'put', 'list', 'delete', 'presign'], {
    labels: {
      get: 'Read a file',
      put: 'Write a file',
      list: 'List files',
      delete: 'Delete a file',
      presign: 'Make a link for downloading',
    },
    default: 'get',
    title: 'Operation',
  }),
  bucket: t.String({ minLength: 1, title: 'Bucket' }),
  key: t.Optional(
    t.String({ title: 'Key', description: 'The path of the file in the bucket.', when: { operation: keyed() } }),
  ),
  prefix: t.Optional(
    t.String({ title: 'Prefix', description: 'The beginning of the keys to list.', when: { operation: ['list'] } }),
  ),
  limit: t.Integer({
    default: 1_000,
    minimum: 1,
    maximum: 10_000,
    title: 'Most files',
    description: 'Further files are not listed.',
    when: { operation: ['list'] },
  }),
  body: t.Optional(
    t.Unknown({
      title: 'Content',
      description: 'A text, a file such as <api.data>, or another value, which is sent as JSON.',
      when: { operation: ['put'] },
    }),
  ),
  contentType: t.Optional(
    t.String({ title: 'Media type', description: 'By default that of the content.', when: { operation: ['put'] } }),
  ),
  expiresS: t.Integer({
    default: 3_600,
    minimum: 1,
    maximum: 604_800,
    title: 'Valid for',
    description: 'How long the link is valid, in seconds.',
    when: { operation: ['presign'] },
  }),
  endpoint: t.Optional(
    t.String({
      title: 'Endpoint',
      description: 'For other services than Amazon S3, such as https://minio.example.com. The bucket is in its path.',
    }),
  ),
  timeoutMs: t.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Time limit for one request, in milliseconds.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

function keyed() {
  return ['get', 'put', 'delete', 'presign']
}

const nothing = { file: null, items: null, url: null, hasMore: null }

/** Reads and writes files in buckets. Requests go out like those of an API block. */
export const s3 = defineBlock({
  type: 's3',
  label: 'S3',
  description: 'Reads, writes and lists files in a bucket of Amazon S3, or of a service like it.',
  kind: 'step',
  parameters: Parameters,
  modes: { credential: 'literal' },
  outputs: ['file', 'items', 'url', 'hasMore', 'error'],
  mayFail: true,
  restore: ({ file }, { files }) => {
    if (isFileObject(file)) files.restore(file)
  },
  run,
})

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  try {
    return { outputs: { ...nothing, ...(await perform(params, context)), error: null } }
  } catch (thrown) {
    if (!(thrown instanceof BlockError || thrown instanceof OutboundError)) throw thrown
    const error = { code: thrown.code, message: thrown.message }
    return { outputs: { ...nothing, error }, error }
  }
}

async function perform(params: Parameters, context: BlockContext): Promise<Partial<typeof nothing> | object> {
  const authorization = await context.credential(params.credential)
  const url = objectUrl(params, authorization.fields?.['region'])
  switch (params.operation) {
    case 'list':
      return await list(params, url, authorization, context)
    case 'presign': {
      if (!authorization.presign) {
        const message = `The credential "${params.credential}" cannot sign links. Use one of the kind aws_sigv4.`
        throw new BlockError('CREDENTIAL_FAILED', message)
      }
      return { url: await authorization.presign(url, params.expiresS) }
    }
    case 'get': {
      const { body, headers } = await send(params, context, { method: 'GET', url, authorization })
      const [type = ''] = String(headers['content-type'] ?? '').split(';')
      const name = params.key?.split('/').at(-1) || 'file'
      return { file: await context.files.store(body, { name, type: type.trim() || 'application/octet-stream' }) }
    }
    case 'put': {
      const { content, type } = await contentOf(params, context)
      const headers = [['Content-Type', params.contentType || type] as const]
      await send(params, context, { method: 'PUT', url, authorization, headers, body: content })
      return {}
    }
    case 'delete':
      await send(params, context, { method: 'DELETE', url, authorization })
      return {}
  }
}

type Authorization = Awaited<ReturnType<BlockContext['credential']>>

async function list(
  { prefix = '', limit, ...params }: Parameters,
  bucket: URL,
  authorization: Authorization,
  context: BlockContext,
) {
  const items: object[] = []
  let token: string | undefined
  do {
    const url = new URL(bucket)
    const wanted = Math.min(pageMax, limit - items.length)
    url.searchParams.set('list-type', '2')
    url.searchParams.set('encoding-type', 'url')
    url.searchParams.set('max-keys', String(wanted))
    if (prefix !== '') url.searchParams.set('prefix', prefix)
    if (token !== undefined) url.searchParams.set('continuation-token', token)
    const { body } = await send(params, context, { method: 'GET', url, authorization })
    const page = listedObjects(new TextDecoder().decode(body))
    items.push(...page.items.slice(0, wanted))
    // A server must not make the block ask forever.
    token = page.items.length === 0 ? undefined : page.next
  } while (token !== undefined && items.length < limit)
  return { items, hasMore: token !== undefined }
}

type Sent = {
  method: string
  url: URL
  authorization: Authorization
  headers?: (readonly [string, string])[]
  body?: string | Blob
}

async function send(
  { timeoutMs }: Pick<Parameters, 'timeoutMs'>,
  context: BlockContext,
  { method, url, authorization, headers = [], body }: Sent,
) {
  const outcome = await context.fetch({
    ...{ method, url: url.href, headers, authorization, timeoutMs, signal: context.signal },
    ...(body === undefined ? {} : { body }),
    responseBytesMax: Math.max(fileBytesMax, responseBytesMax),
    followRedirects: 0,
  })
  if (!outcome.ok) throw new BlockError(outcome.code, outcome.message)
  const { status, body: content } = outcome.response
  if (status < 300) return outcome.response
  const reason = refusalIn(new TextDecoder().decode(content.subarray(0, refusalBytesMax)))
  const message = `${method} ${url.origin}${url.pathname} returned the status ${status}${reason && `: ${reason}`}`
  throw new BlockError('HTTP_ERROR', message)
}

async function contentOf({ body, timeoutMs }: Parameters, context: BlockContext) {
  if (isFileObject(body)) return await fileToSend(body, 'Content', context, timeoutMs)
  if (typeof body === 'string') return { content: body, type: 'text/plain;charset=utf-8' }
  if (body === undefined || body === null) throw new BlockError('INVALID_PARAMETER', 'There is no content to write.')
  return { content: JSON.stringify(body), type: 'application/json' }
}

const pageMax = 1_000
const refusalBytesMax = 10_000
