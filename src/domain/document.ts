import type { ErrorDetail } from './errors.ts'
import { isObject } from './input.ts'
import { findMisfits } from './shape.ts'
import { type Edge, type Finding, WorkflowDocument } from './workflow.ts'

/** `warnings`: members that mean nothing here, most likely misspelt. They are kept. */
export type DocumentReading = { document: WorkflowDocument; warnings: Finding[] } | { details: ErrorDetail[] }

/**
 * Checks the shape of a workflow document and fills in what may be left out: ids of blocks (the member's name), of
 * loops and parallels, of edges; `enabled` true; `position` 0, 0. Whether the document makes sense is the check at
 * deployment. Every finding comes at once. Members that the shape does not know stay as they are, except those that
 * the service itself adds to its answers, so that what was read can be sent back.
 */
export function readDocument(value: unknown): DocumentReading {
  if (!isObject(value)) return { details: [{ path: '', message: 'A workflow document must be an object.' }] }
  const filled = fill(value)
  const misfits = findMisfits(WorkflowDocument, filled).map((misfit) => nameBlock(misfit, filled))
  const details = [...misfits, ...badTexts(filled), ...badKeys(filled), ...sameWebhooks(filled)]
  if (details.length > 0) return { details }
  return { document: filled as WorkflowDocument, warnings: Object.keys(filled).filter(isUnknown).map(warn) }
}

/** Members of answers that are no part of a document. */
const answerMembers = new Set([
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
])

function fill(value: Record<string, unknown>): Record<string, unknown> {
  const filled = Object.fromEntries(
    Object.entries(value).filter(([name, member]) => member !== null && !answerMembers.has(name)),
  )
  const withDefaults = {
    blocks: fillMembers(value['blocks'], (id) => ({ id, position: { x: 0, y: 0 }, enabled: true })),
    edges: fillEdges(value['edges']),
    loops: fillMembers(value['loops'], (id) => ({ id })),
    parallels: fillMembers(value['parallels'], (id) => ({ id })),
    notes: fillMembers(value['notes'], (id) => ({ id, position: { x: 0, y: 0 } })),
    folder: fillFolder(value['folder']),
    webhooks: fillWebhooks(value['webhooks']),
  }
  for (const [name, part] of Object.entries(withDefaults)) {
    if (part !== undefined) filled[name] = part
    else delete filled[name]
  }
  return filled
}

function fillMembers(value: unknown, defaults: (id: string) => Record<string, unknown>): unknown {
  if (!isObject(value)) return value ?? undefined
  // Object.fromEntries and not assignment: a member may be called __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([id, member]) => [
      id,
      isObject(member) ? { ...defaults(id), ...withoutNulls(member) } : member,
    ]),
  )
}

const mayBeNull = new Set(['position', 'enabled', 'params', 'nodes', 'onError'])

/** Null in place of an optional member is the same as no member. */
function withoutNulls(member: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(member).filter(([name, value]) => value !== null || !mayBeNull.has(name)))
}

/** Ids made here depend on what the edge connects only, so that the same file gives the same ids every time. */
function fillEdges(value: unknown): unknown {
  if (!Array.isArray(value)) return value ?? undefined
  const taken = new Set(value.map((edge: unknown) => (isObject(edge) ? edge['id'] : undefined)))
  return value.map((edge: unknown) => {
    if (!isObject(edge) || typeof edge['id'] === 'string') return edge
    const { source, sourceHandle, target } = edge as Partial<Edge>
    const wanted = `${wordOf(source)}:${wordOf(sourceHandle ?? 'source')}-${wordOf(target)}`
    let id = wanted
    for (let copy = 2; taken.has(id); copy++) id = `${wanted}-${copy}`
    taken.add(id)
    return { ...edge, id }
  })
}

/** An object with a member `toString` has no text, and JavaScript throws where it looks for one. */
function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** `/a//b/` → `a/b`; no folder at all → undefined. */
function fillFolder(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? undefined
  const parts = value.split('/').map((part) => part.trim())
  return parts.filter((part) => part !== '').join('/') || undefined
}

/** Null is no member, but for the secret: there it says that there is none. */
function fillWebhooks(value: unknown): unknown {
  if (!Array.isArray(value)) return value ?? undefined
  return value.map((webhook: unknown) => {
    if (!isObject(webhook)) return webhook
    return Object.fromEntries(Object.entries(webhook).filter(([name, member]) => member !== null || name === 'secret'))
  })
}

function nameBlock({ path, message }: ErrorDetail, document: Record<string, unknown>): ErrorDetail {
  const id = Object.keys(isObject(document['blocks']) ? document['blocks'] : {}).find(
    (key) => path.startsWith(`blocks.${key}.`) || path.startsWith(`blocks[${key}].`),
  )
  if (id === undefined) return { path, message }
  const block = (document['blocks'] as Record<string, unknown>)[id]
  const name = isObject(block) && typeof block['name'] === 'string' ? ` "${block['name']}"` : ''
  return { path, message: `In block${name} (${id}): ${message}` }
}

/** Names that no one could see, type or compare. */
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
  return texts.flatMap(([path, text]) => {
    if (typeof text !== 'string' || text === '') return []
    if (text.trim() === '') return [{ path, message: `${path} must not consist of spaces only.` }]
    const control = /[\p{Cc}\p{Cs}]/u.test(text)
    return control ? [{ path, message: `${path} must not hold control characters or half characters.` }] : []
  })
}

/** Where a member's name and its `id` must agree, and names that JavaScript gives a meaning of their own. */
function badKeys(document: Record<string, unknown>): ErrorDetail[] {
  return ['blocks', 'loops', 'parallels', 'variables', 'notes'].flatMap((part) => {
    const members = document[part]
    if (!isObject(members)) return []
    return Object.entries(members).flatMap(([key, member]): ErrorDetail[] => {
      const path = `${part}.${key}`
      if (key === '__proto__') return [{ path, message: `${path}: this name cannot be used; choose another one.` }]
      const id = part !== 'variables' && isObject(member) ? member['id'] : undefined
      if (typeof id !== 'string' || id === '' || id === key) return []
      const message = `${path}.id is "${id}", and must equal the name of its member, "${key}", or be left out.`
      return [{ path: `${path}.id`, message }]
    })
  })
}

function sameWebhooks(document: Record<string, unknown>): ErrorDetail[] {
  const webhooks: unknown[] = Array.isArray(document['webhooks']) ? document['webhooks'] : []
  const ids = webhooks.map((webhook) => (isObject(webhook) ? webhook['id'] : undefined))
  return ids.flatMap((id, index): ErrorDetail[] => {
    if (typeof id !== 'string' || ids.indexOf(id) === index) return []
    const path = `webhooks[${index}].id`
    return [
      { path, message: `${path} is "${id}", as that of webhooks[${ids.indexOf(id)}] is. Leave it out for a new one.` },
    ]
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
    message: `A workflow document has no member "${member}"; it is kept and means nothing.`,
  }
}
