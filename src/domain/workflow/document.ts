import type { ErrorDetail } from '../errors.ts'
import { isObject } from '../run/input.ts'
import type { Slices } from '../slices.ts'
import { folderProblem } from './folders.ts'
import { findValidationErrors } from './shape.ts'
import { type Edge, type Finding, WorkflowDocument } from './workflow.ts'

/** `warnings` lists unknown members, most likely misspelt. The document keeps them. */
export type DocumentReading = { document: WorkflowDocument; warnings: Finding[] } | { details: ErrorDetail[] }

/**
 * Checks the shape of a workflow document and fills in optional members: IDs of blocks (the member's name), of loops,
 * parallels and edges; `enabled` true; `position` 0, 0. Whether the document makes sense is checked at deployment.
 * All findings are reported at once. Unknown members stay as they are, except those that the service itself adds to
 * its responses, so that a client can send back what it read.
 */
export function readDocument(value: unknown): DocumentReading {
  if (!isObject(value)) return { details: [{ path: '', message: 'A workflow document must be an object.' }] }
  const filled = fill(value)
  const errors = nameBlocks(findValidationErrors(WorkflowDocument, filled), filled)
  const details = [...errors, ...badTexts(filled), ...badKeys(filled), ...sameWebhooks(filled)]
  if (details.length > 0) return { details }
  return { document: filled as WorkflowDocument, warnings: Object.keys(filled).filter(isUnknown).map(warn) }
}

/** `readDocument` as work for a queue, so that several large documents are not read in one turn of the event loop. */
export function* readDocumentInSlices(value: unknown): Slices<DocumentReading> {
  const reading = readDocument(value)
  yield
  return reading
}

/** Members that the service adds to its responses. They are not part of a document. */
const responseMembers = new Set([
  'workspaceId',
  'createdAt',
  'updatedAt',
  'revision',
  'version',
  'deployedAt',
  'findings',
  'schedule',
  'webhookUrl',
  'chatUrl',
  'formUrl',
])

function fill(value: Record<string, unknown>): Record<string, unknown> {
  const filled = Object.fromEntries(
    Object.entries(value).filter(([name, member]) => member !== null && !responseMembers.has(name)),
  )
  const withDefaults = {
    blocks: fillMembers(value['blocks'], (id) => ({ id, position: { x: 0, y: 0 }, enabled: true })),
    edges: fillEdges(value['edges']),
    loops: fillMembers(value['loops'], (id) => ({ id })),
    parallels: fillMembers(value['parallels'], (id) => ({ id })),
    notes: fillMembers(value['notes'], (id) => ({ id, position: { x: 0, y: 0 } })),
    folder: fillFolder(value['folder']),
    webhooks: fillWebhooks(value['webhooks']),
    limits: withoutNullMembers(value['limits']),
    mcp: withoutNullMembers(value['mcp']),
  }
  for (const [name, part] of Object.entries(withDefaults)) {
    if (part !== undefined) filled[name] = part
    else delete filled[name]
  }
  return filled
}

function fillMembers(value: unknown, defaults: (id: string) => Record<string, unknown>): unknown {
  if (!isObject(value)) return value ?? undefined
  // Object.fromEntries instead of assignment, because a member may be called __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([id, member]) => [
      id,
      isObject(member) ? { ...defaults(id), ...withoutNulls(member) } : member,
    ]),
  )
}

const mayBeNull = new Set(['position', 'enabled', 'params', 'nodes', 'onError'])

/** An optional member that is null counts as absent. */
function withoutNulls(member: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(member).filter(([name, value]) => value !== null || !mayBeNull.has(name)))
}

/** IDs made here depend only on what the edge connects, so that the same file always gives the same IDs. */
function fillEdges(value: unknown): unknown {
  if (!Array.isArray(value)) return value ?? undefined
  const taken = new Set(value.map((edge: unknown) => (isObject(edge) ? edge['id'] : undefined)))
  /** The latest number for each wanted ID. Counting from 2 for each of n equal edges would take n² steps. */
  const copies = new Map<string, number>()
  return value.map((edge: unknown) => {
    if (!isObject(edge) || typeof edge['id'] === 'string') return edge
    const { source, sourceHandle, target } = edge as Partial<Edge>
    const wanted = `${wordOf(source)}:${wordOf(sourceHandle ?? 'source')}-${wordOf(target)}`
    let copy = copies.get(wanted) ?? 1
    let id = copy === 1 ? wanted : `${wanted}-${copy}`
    while (taken.has(id)) {
      copy += 1
      id = `${wanted}-${copy}`
    }
    copies.set(wanted, copy)
    taken.add(id)
    return { ...edge, id }
  })
}

/** JavaScript throws when it converts an object that has a member `toString` to text. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `/a//b/` → `a/b`; an empty path → undefined. */
function fillFolder(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? undefined
  const parts = value.split('/').map((part) => part.trim())
  return parts.filter((part) => part !== '').join('/') || undefined
}

/** A member that is null counts as absent. */
function withoutNullMembers(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

/** A null member counts as absent. Only a null `secret` has a meaning: it removes the secret. */
function fillWebhooks(value: unknown): unknown {
  if (!Array.isArray(value)) return value ?? undefined
  return value.map((webhook: unknown) => {
    if (!isObject(webhook)) return webhook
    return Object.fromEntries(Object.entries(webhook).filter(([name, member]) => member !== null || name === 'secret'))
  })
}

/** Names the block in each error. There are at most `validationErrorsMax` errors, so this is linear in the blocks. */
function nameBlocks(errors: ErrorDetail[], document: Record<string, unknown>): ErrorDetail[] {
  const blocks = isObject(document['blocks']) ? document['blocks'] : {}
  const ids = errors.length === 0 ? [] : Object.keys(blocks)
  return errors.map(({ path, message }) => {
    const id = path.startsWith('blocks') ? ids.find((key) => isInBlock(path, key)) : undefined
    if (id === undefined) return { path, message }
    const block = blocks[id]
    const name = isObject(block) && typeof block['name'] === 'string' ? ` "${block['name']}"` : ''
    return { path, message: `In block${name} (${id}): ${message}` }
  })
}

/** Whether a path that starts with `blocks` continues with `.<id>.` or `[<id>].`. */
function isInBlock(path: string, id: string): boolean {
  const start = 'blocks.'.length
  return path.startsWith(id, start) && path.startsWith(path[start - 1] === '[' ? '].' : '.', start + id.length)
}

/** Rejects names that people cannot see, type or compare. */
function badTexts(document: Record<string, unknown>): ErrorDetail[] {
  const blocks = Object.entries(isObject(document['blocks']) ? document['blocks'] : {})
  const texts: [path: string, text: unknown][] = [
    ['name', document['name']],
    ['folder', document['folder']],
    ...blocks.map(([id, block]): [string, unknown] => [
      `blocks.${id}.name`,
      isObject(block) ? block['name'] : undefined,
    ]),
  ]
  const folder = document['folder']
  const problem = typeof folder === 'string' ? folderProblem(folder) : undefined
  const tooDeep = problem === undefined ? [] : [{ path: 'folder', message: problem }]
  const bad = texts.flatMap(([path, text]) => {
    if (typeof text !== 'string' || text === '') return []
    if (text.trim() === '') return [{ path, message: `${path} must not consist of spaces only.` }]
    const control = /[\p{Cc}\p{Cs}]/u.test(text)
    return control ? [{ path, message: `${path} must not contain control characters or broken characters.` }] : []
  })
  return [...tooDeep, ...bad]
}

/** Rejects IDs that differ from their member's name, and names with a special meaning in JavaScript. */
function badKeys(document: Record<string, unknown>): ErrorDetail[] {
  return ['blocks', 'loops', 'parallels', 'variables', 'notes'].flatMap((part) => {
    const members = document[part]
    if (!isObject(members)) return []
    return Object.entries(members).flatMap(([key, member]): ErrorDetail[] => {
      const path = `${part}.${key}`
      if (key === '__proto__') return [{ path, message: `${path}: this name is reserved. Choose another name.` }]
      const id = part !== 'variables' && isObject(member) ? member['id'] : undefined
      if (typeof id !== 'string' || id === '' || id === key) return []
      const message = `${path}.id is "${id}". It must equal the name of its member, "${key}", or be absent.`
      return [{ path: `${path}.id`, message }]
    })
  })
}

function sameWebhooks(document: Record<string, unknown>): ErrorDetail[] {
  const webhooks: unknown[] = Array.isArray(document['webhooks']) ? document['webhooks'] : []
  const firsts = new Map<string, number>()
  return webhooks.flatMap((webhook, index): ErrorDetail[] => {
    const id = isObject(webhook) ? webhook['id'] : undefined
    if (typeof id !== 'string') return []
    const first = firsts.get(id)
    if (first === undefined) firsts.set(id, index)
    const path = `webhooks[${index}].id`
    const message = `${path} is "${id}", like webhooks[${first}]. Remove it to get a new ID.`
    return first === undefined ? [] : [{ path, message }]
  })
}

function isUnknown(member: string): boolean {
  return !Object.hasOwn(WorkflowDocument.properties, member)
}

function warn(member: string): Finding {
  return {
    level: 'warning',
    code: 'UNKNOWN_MEMBER',
    path: member,
    blockId: null,
    blockName: null,
    message: `A workflow document has no member "${member}". It is kept and has no effect.`,
  }
}
