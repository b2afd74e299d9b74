import { normaliseName, type PathStep, segmentsOf } from '../../../domain/workflow/reference.ts'
import { type Block, type Document, formatOf } from './document.ts'

/**
 * Example input for a trigger: the sample values of its input format, otherwise a value of the declared type. Without
 * an input format: the fields that the blocks read, such as `id` in `<start.id>`.
 */
export function exampleInput(document: Document, trigger = 'api_trigger'): Record<string, unknown> {
  const block = Object.values(document.blocks).find(({ type }) => type === trigger)
  const format = block && formatOf(block)
  if (Array.isArray(format) && format.length > 0) {
    return Object.fromEntries(
      (format as Field[]).flatMap((field) => (field.name ? [[field.name, exampleOfField(field)]] : [])),
    )
  }
  if (trigger === 'chat_trigger') return { input: 'Hello' }
  const start = block && startWords[trigger]
  if (!start) return {}
  const read = fieldsRead(document, block, start)
  if (trigger !== 'webhook_trigger') return read
  const { body = {}, query = {}, headers = {} } = read
  return { body, headers, query, method: methodOf(block.params ?? {}) }
}

/**
 * Whether blocks read what a trigger without an input format gives: the message of a chat, or members of the input,
 * such as `<start.input.id>`.
 */
export function readsTrigger(document: Document, trigger: string): boolean {
  const block = Object.values(document.blocks).find(({ type }) => type === trigger)
  const start = startWords[trigger]
  if (!block || start === undefined) return false
  return Object.keys(fieldsRead(document, block, start, start !== 'chat')).length > 0
}

/** An example of a request to a webhook trigger, for commands. */
export type ExampleRequest = { method: string /** With the query. */; url: string; body: string | undefined }

/** A request with the fields that the blocks of the document read. */
export function exampleRequest(
  document: Document,
  url: string,
  params: Readonly<Record<string, unknown>>,
): ExampleRequest {
  const { body, query } = exampleInput(document, 'webhook_trigger')
  const method = methodOf(params)
  const search = new URLSearchParams(textMembers(query)).toString()
  return {
    method,
    url: search === '' ? url : `${url}?${search}`,
    body: method === 'GET' || method === 'DELETE' ? undefined : bodyText(body),
  }
}

/** The method of an example request: POST if the trigger accepts it. */
function methodOf({ methods }: Readonly<Record<string, unknown>>): string {
  const accepted = Array.isArray(methods) && methods.length > 0 ? methods.map(String) : ['POST']
  return accepted.includes('POST') ? 'POST' : (accepted[0] ?? 'POST')
}

type Field = { name?: string; type?: string; format?: string; options?: readonly unknown[]; value?: unknown }

/** The sample value of a field; otherwise one of its choices, or a value of its type. */
function exampleOfField({ type = 'string', format = '', options = [], value }: Field): unknown {
  const [option] = options
  if (value !== undefined) return value
  if (option !== undefined && type !== 'object') return type === 'array' ? [option] : option
  return formats[format] ?? examples[type] ?? 'text'
}

const formats: Record<string, unknown> = {
  email: 'ada@example.com',
  url: 'https://example.com',
  date: '2027-01-31',
}

const examples: Record<string, unknown> = {
  string: 'text',
  number: 1,
  boolean: true,
  object: {},
  array: [],
  files: [{ type: 'url', data: 'https://example.com/file.pdf', name: 'file.pdf' }],
}

/** The names by which references read triggers, besides the names of their blocks. */
const startWords: Readonly<Record<string, string>> = {
  api_trigger: 'api',
  manual_trigger: 'manual',
  webhook_trigger: 'webhook',
  chat_trigger: 'chat',
  form_trigger: 'form',
  poll_trigger: 'poll',
  rss_trigger: 'rss',
  event_trigger: 'event',
}

/**
 * The members of a trigger's output that references in the document read, with a text for each. `isInputOnly`: only
 * those of its whole input.
 */
function fieldsRead(
  { blocks, loops, parallels }: Document,
  trigger: Block,
  start: string,
  isInputOnly = false,
): Record<string, unknown> {
  const names = new Set([start, normaliseName(trigger.name)])
  const found: Tree = new Map()
  const collect = (value: unknown, more: readonly PathStep[]) => {
    for (const text of textsIn(value)) {
      for (const segment of segmentsOf(text)) {
        if (segment.kind !== 'reference' || !names.has(segment.name)) continue
        // These triggers also have their whole input as `input`.
        const isWhole = segment.path[0] === 'input' && ['api', 'manual', 'form'].includes(start)
        if (isInputOnly && !isWhole) continue
        grow(found, [...(isWhole ? segment.path.slice(1) : segment.path), ...more])
      }
    }
  }
  collect([Object.values(blocks).map(({ params }) => params), loops, parallels], [])
  // The items that a container repeats its blocks for are a list.
  for (const { forEachItems } of Object.values(loops ?? {})) collect(forEachItems, [0])
  for (const { distribution } of Object.values(parallels ?? {})) collect(distribution, [0])
  return found.size === 0 ? {} : (exampleOf(found) as Record<string, unknown>)
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner)
}

/** The steps that follow each other in references. */
type Tree = Map<PathStep, Tree>

function grow(tree: Tree, path: readonly PathStep[]): void {
  let at = tree
  for (const step of path) {
    const next: Tree = at.get(step) ?? new Map()
    at.set(step, next)
    at = next
  }
}

function exampleOf(tree: Tree): unknown {
  if (tree.size === 0) return 'text'
  const steps = [...tree]
  const [first] = steps
  if (typeof first?.[0] === 'number') return [exampleOf(first[1])]
  return Object.fromEntries(steps.map(([step, inner]) => [step, exampleOf(inner)]))
}

/** A body of which no field is read has any content. */
function bodyText(body: unknown): string {
  const isRead = typeof body === 'object' && body !== null && Object.keys(body).length > 0
  return JSON.stringify(isRead ? body : { hello: 'world' })
}

function textMembers(query: unknown): [string, string][] {
  if (typeof query !== 'object' || query === null) return []
  return Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : 'text'])
}
