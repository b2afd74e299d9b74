import { Type as t } from '@sinclair/typebox'
import { valueAt } from '../../domain/pagination/value-path.ts'
import type { PollAnswer, PolledItem, Validators } from '../../domain/poll/answer.ts'
import { hashOfItem } from '../../domain/poll/item-hash.ts'
import { isObject } from '../../domain/run/input.ts'
import { type BlockContext, type BlockDefinition, defineBlock } from '../../engine/block.ts'
import { type ApiCall, type ApiResult, callApi } from '../api/call.ts'
import { Parameters as ApiParameters, check, modeOfBody } from '../api/parameters.ts'
import { manualTrigger } from '../manual-trigger.ts'
import { readFeed } from './feed.ts'

const { batch: _batch, onError: _onError, file: _file, ...requestMembers } = ApiParameters.properties

const Parameters = t.Object({
  ...requestMembers,
  reads: t.Union([t.Literal('list'), t.Literal('feed')]),
  items: t.String({ default: '' }),
  id: t.String({ default: '' }),
  maxItems: t.Integer(),
})

/**
 * Sends the request of a poll. It is in no palette: the service puts it into a workflow of its own for each poll. The
 * input has the validators of the previous answer; the output `answer` is a `PollAnswer`.
 */
const pollCall = defineBlock({
  type: 'poll_call',
  label: 'Poll',
  description: 'Sends the request of a poll.',
  kind: 'step',
  parameters: Parameters,
  modes: { body: modeOfBody, reads: 'literal', items: 'literal', id: 'literal' },
  outputs: ['answer'],
  mayFail: true,
  check,
  async run({ reads, items, id, maxItems, ...call }, context) {
    const validators = validatorsIn(context.input.fields['validators'])
    const answer = await (reads === 'feed'
      ? pollFeed(call as ApiCall, validators, context)
      : pollList(call as ApiCall, { items, id, maxItems }, validators, context))
    return { outputs: { answer } }
  },
})

/** The block types of the workflow that polls. */
export const pollRegistry: ReadonlyMap<string, BlockDefinition> = new Map(
  [manualTrigger, pollCall].map((definition) => [definition.type, definition]),
)

type ListPaths = { items: string; id: string; maxItems: number }

async function pollList(
  call: ApiCall,
  paths: ListPaths,
  validators: Validators,
  context: BlockContext,
): Promise<PollAnswer> {
  // A list in pages has no validators: those of its first page say nothing about the others.
  const isConditional = call.pagination === undefined && call.method === 'GET'
  const pagination = call.pagination && { items: paths.items, ...call.pagination, maxItems: paths.maxItems }
  const asked = pagination ? { ...call, pagination } : conditional(call, isConditional ? validators : {})
  const kept = keepingFiles(context)
  const result = await callApi(asked, kept.context)
  if (result.failure) return failed(result)
  if (result.status === 304) return { kind: 'unchanged' }
  if (kept.file) return { kind: 'failed', message: 'The response is a file, and not a list of items.' }
  // With pagination, the data are the items already.
  const list = call.pagination ? result.data : valueAt(result.data, paths.items)
  if (!Array.isArray(list)) return { kind: 'failed', message: noList(list, paths.items) }
  // An author who sets a number of pages wants to read no more of them.
  const isCut = result.isCut === true && call.pagination?.maxPages === undefined
  return itemsOf(list as unknown[], paths, isConditional ? validatorsOf(result) : {}, isCut)
}

function noList(found: unknown, path: string): string {
  const place = path === '' ? 'The response' : `"${path}" in the response`
  const kind =
    found === undefined ? 'absent' : found === null ? 'null' : isObject(found) ? 'an object' : 'a single value'
  return `${place} is ${kind}, and not a list. Set Items to the path of the list.`
}

/** The items of a response. Only the first `maxItems` count. `isCut`: there are pages that were not read. */
export function itemsOf(
  list: readonly unknown[],
  { id, maxItems }: ListPaths,
  validators: Validators,
  isCut = false,
): PollAnswer {
  const items = new Map<string, unknown>()
  let nameless = 0
  for (const item of list.slice(0, maxItems)) {
    const text = idOf(item, id)
    if (text === undefined) nameless += 1
    else {
      const hash = hashOfItem(text)
      if (!items.has(hash)) items.set(hash, item)
    }
  }
  const read = Math.min(list.length, maxItems)
  const ignored = `${nameless} of ${read} items have no text or number at "${id}" and were ignored.`
  if (nameless > 0 && items.size === 0) return { kind: 'failed', message: ignored }
  const problem = [nameless > 0 ? ignored : [], list.length > maxItems || isCut ? longer(list.length, read) : []].flat()
  return {
    kind: 'items',
    items: Array.from(items, ([hash, item]): PolledItem => ({ hash, item })),
    validators,
    problem: problem.length === 0 ? null : problem.join(' '),
  }
}

/** In a list with the oldest item first, the new ones would never be read, and nobody would notice. */
function longer(length: number, read: number): string {
  const [count, limits] = length > read ? [`${length}`, '"maxItems"'] : [`more than ${read}`, '"maxPages", "maxItems"']
  const next = 'List the newest items first, ask for fewer items, or raise the limit.'
  return `The list has ${count} items, and only the first ${read} are read (${limits}). ${next}`
}

function idOf(item: unknown, path: string): string | undefined {
  if (path === '') return JSON.stringify(item)
  const value = valueAt(item, path)
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

async function pollFeed(call: ApiCall, validators: Validators, context: BlockContext): Promise<PollAnswer> {
  const kept = keepingFiles(context)
  const asked = withHeader({ ...call, responseType: 'file' }, 'Accept', feedTypes)
  const result = await callApi(conditional(asked, validators), kept.context)
  if (result.failure) return failed(result)
  if (result.status === 304) return { kind: 'unchanged' }
  const header = result.headers?.['content-type']
  const contentType = typeof header === 'string' ? header : ''
  const feed = await context.inSlices(
    readFeed(kept.file ?? new Uint8Array(), { contentType, url: result.url ?? call.url }),
  )
  if ('problem' in feed) return { kind: 'failed', message: feed.problem }
  const items = new Map(feed.entries.map((entry) => [hashOfItem(entry.id), entry]))
  const listed = Array.from(items, ([hash, item]): PolledItem => ({ hash, item }))
  return { kind: 'items', items: listed, validators: validatorsOf(result), problem: null }
}

const feedTypes = 'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5'

function conditional(call: ApiCall, { etag, lastModified }: Validators): ApiCall {
  const first = etag === undefined ? call : withHeader(call, 'If-None-Match', etag)
  return lastModified === undefined ? first : withHeader(first, 'If-Modified-Since', lastModified)
}

/** A header that the author has set stays. */
function withHeader(call: ApiCall, name: string, value: string): ApiCall {
  const { headers = [] } = call
  if (headers.some(({ key }) => key.toLowerCase() === name.toLowerCase())) return call
  return { ...call, headers: [...headers, { key: name, value }] }
}

function validatorsOf({ headers }: ApiResult): Validators {
  const [etag, lastModified] = [headers?.['etag'], headers?.['last-modified']]
  return validatorsIn({ etag, lastModified })
}

/** A service that sends a longer one gets none back. */
const validatorCharsMax = 1_000

function validatorsIn(value: unknown): Validators {
  const { etag, lastModified } = isObject(value) ? value : {}
  const isUsable = (text: unknown): text is string => typeof text === 'string' && text.length <= validatorCharsMax
  return { ...(isUsable(etag) ? { etag } : {}), ...(isUsable(lastModified) ? { lastModified } : {}) }
}

function failed({ failure, headers }: ApiResult): PollAnswer {
  const retryAfter = headers?.['retry-after']
  const message = failure?.message ?? 'The request failed.'
  return { kind: 'failed', message, ...(typeof retryAfter === 'string' ? { retryAfter } : {}) }
}

/** A context that keeps the file of a response in memory, because no run has it. */
function keepingFiles(context: BlockContext): { context: BlockContext; file: Uint8Array<ArrayBuffer> | undefined } {
  const kept: { context: BlockContext; file: Uint8Array<ArrayBuffer> | undefined } = { context, file: undefined }
  const store: BlockContext['files']['store'] = async (content, facts) => {
    kept.file = new Uint8Array(content)
    return { url: '', size: content.byteLength, ...facts }
  }
  const files = { ...context.files, store, read: async () => undefined, restore: () => undefined }
  kept.context = new Proxy(context, {
    get(target, name) {
      if (name === 'files') return files
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return kept
}
