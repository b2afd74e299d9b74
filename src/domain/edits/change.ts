import { isRecord, own, sameValue } from './same-value.ts'

/**
 * One value that differs between two documents: the smallest unit of editing, merging and undo. Undefined means that
 * there is no value. A connection is a member of `edges` by its two ends, because its ID says nothing.
 */
export type Change = { path: readonly string[]; before: unknown; after: unknown }

/** The parts of a workflow document that edits know. */
export type EditedDocument = {
  name: string
  blocks: Readonly<Record<string, EditedBlock>>
  edges: readonly EditedEdge[]
  loops?: Readonly<Record<string, object>> | undefined
  parallels?: Readonly<Record<string, object>> | undefined
  notes?: Readonly<Record<string, object>> | undefined
  variables?: Readonly<Record<string, object>> | undefined
}
export type EditedBlock = {
  id: string
  name: string
  type: string
  parentId?: string | null | undefined
  params?: Record<string, unknown> | undefined
}
export type EditedEdge = {
  id?: string | undefined
  source: string
  target: string
  sourceHandle?: string | null | undefined
  targetHandle?: string | null | undefined
}
export type Members = Record<string, unknown>

/** The changes from one document to another, in time linear to their size. Parts that both share are skipped. */
export function changesBetween<Doc extends EditedDocument>(before: Doc, after: Doc): Change[] {
  if (before === after) return []
  const changes: Change[] = []
  compare(before as Members, after as Members, [], changes)
  const [old, now] = [edgesByKey(before.edges), edgesByKey(after.edges)]
  if (before.edges === after.edges) return changes
  for (const [key, edge] of old)
    if (!now.has(key)) changes.push({ path: ['edges', key], before: edge, after: undefined })
  for (const [key, edge] of now)
    if (!old.has(key)) changes.push({ path: ['edges', key], before: undefined, after: edge })
  return changes
}

/** Applies changes, whatever the document has in their places. Unchanged parts keep their identity. */
export function applyChanges<Doc extends EditedDocument>(document: Doc, changes: readonly Change[]): Doc {
  if (changes.length === 0) return document
  const copies = new Set<object>()
  const root = copyOf(document, copies)
  const edges = changes.filter(({ path }) => path[0] === 'edges')
  for (const { path, after } of changes) if (path[0] !== 'edges') setValue(root, path, after, copies)
  if (edges.length > 0) root['edges'] = withEdges(document.edges, edges)
  return root as Doc
}

/** The same changes backwards. */
export function inverseOf(changes: readonly Change[]): Change[] {
  return changes.map(({ path, before, after }) => ({ path, before: after, after: before })).toReversed()
}

/** The value at a path; undefined when there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document
  for (const name of path) value = isRecord(value) ? own(value, name) : undefined
  return value
}

export function edgeKey({ source, target, sourceHandle, targetHandle }: EditedEdge): string {
  return JSON.stringify([source, sourceHandle || 'source', target, targetHandle || 'target'])
}

export function edgesByKey<Edge extends EditedEdge>(edges: readonly Edge[]): Map<string, Edge> {
  return new Map(edges.map((edge) => [edgeKey(edge), edge]))
}

/**
 * Whether the members of the value at a path are compared one by one. The lists of blocks inside containers are left
 * out, because each block names its container.
 */
function isOpen(path: readonly string[]): boolean {
  const [collection, , member] = path
  if (path.length === 0) return true
  if (collection === 'blocks') return path.length <= 2 || (member === 'params' && path.length < depthMax)
  if (collection === 'loops' || collection === 'parallels' || collection === 'notes') return path.length <= 2
  return collection === 'variables' && path.length === 1
}

/** Deeper values are compared as a whole. */
const depthMax = 8

/** An absent collection of members is the same as an empty one, so that two people may both add its first member. */
export function isCollection(path: readonly string[]): boolean {
  const [collection, , member] = path
  return (path.length === 1 && collections.has(collection ?? '')) || (path.length === 3 && member === 'params')
}

const collections = new Set(['blocks', 'loops', 'parallels', 'notes', 'variables'])

function isLeftOut([collection, , member]: readonly string[]): boolean {
  return collection === 'edges' || ((collection === 'loops' || collection === 'parallels') && member === 'nodes')
}

function compare(before: unknown, after: unknown, path: readonly string[], changes: Change[]): void {
  if (before === after || isLeftOut(path)) return
  const [old, now] = isCollection(path) ? [before ?? {}, after ?? {}] : [before, after]
  if (!isOpen(path) || !isRecord(old) || !isRecord(now)) {
    if (!sameValue(before, after)) changes.push({ path, before, after })
    return
  }
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    compare(own(old, name), own(now, name), [...path, name], changes)
  }
}

function setValue(root: Members, path: readonly string[], value: unknown, copies: Set<object>): void {
  let at = root
  for (const [depth, name] of path.slice(0, -1).entries()) {
    const inner = own(at, name)
    const isNew = inner === undefined && value !== undefined && isCollection(path.slice(0, depth + 1))
    // Otherwise the change is inside a value that is not there any more.
    if (!isRecord(inner) && !isNew) return
    const copy = copyOf(inner ?? {}, copies)
    define(at, name, copy)
    at = copy
  }
  const last = path.at(-1) ?? ''
  if (value === undefined) delete at[last]
  else define(at, last, value)
}

/** Also sets a member named `__proto__`. */
function define(record: Members, name: string, value: unknown): void {
  Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
}

/** A copy that may be changed; the same object if it is one already. */
function copyOf(value: object, copies: Set<object>): Members {
  if (copies.has(value)) return value as Members
  const copy = { ...value }
  copies.add(copy)
  return copy as Members
}

function withEdges(edges: readonly EditedEdge[], changes: readonly Change[]): EditedEdge[] {
  const after = new Map(changes.map((change) => [change.path[1], change.after as EditedEdge | undefined]))
  const kept = edges.filter((edge) => !after.has(edgeKey(edge)) || after.get(edgeKey(edge)) !== undefined)
  const there = edgesByKey(kept)
  const added = [...after].flatMap(([key, edge]) => (edge && !there.has(key ?? '') ? [edge] : []))
  return [...kept, ...added]
}
