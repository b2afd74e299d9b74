import { applyChanges, type Change } from '../../../domain/edits/change.ts'
import { type Merge, merge } from '../../../domain/edits/merge.ts'
import { renameReferences } from '../../../domain/edits/rename-references.ts'
import { repair } from '../../../domain/edits/repair.ts'
import { placeBlocks } from './auto-layout.ts'
import { syncNodes, withContainer } from './containers.ts'
import {
  type Block,
  containerHandles,
  type Document,
  type Exposure,
  freeName,
  isContainer,
  isTrigger,
  type Limits,
  type Note,
  normaliseName,
  type Params,
  type Point,
  type Variables,
  withInner,
} from './document.ts'
import { type Fragment, insertFragment } from './fragment.ts'
import { type Rewrite, rewrite } from './rewrite.ts'
import { connect, connectStart, convert, dropLooseEdges, heal, splice } from './wiring.ts'

/** One change to a document. The editor makes no other kind of change. */
export type Edit =
  /** Adds a block; `from` and `onEdge` connect it immediately. */
  | { kind: 'add'; block: Block; edgeId: string; from?: { source: string; sourceHandle: string }; onEdge?: string }
  | { kind: 'move'; to: Readonly<Record<string, Point>> }
  /** Moves blocks into a container or out of one (null); `to` holds the new positions. */
  | { kind: 'nest'; parentId: string | null; to: Readonly<Record<string, Point>> }
  | { kind: 'remove'; blocks?: readonly string[]; edges?: readonly string[]; notes?: readonly string[] }
  /** Changes the type of a block. */
  | { kind: 'convert'; id: string; type: string; params: Params }
  /** Puts an unconnected block into a line. */
  | { kind: 'splice'; id: string; onEdge: string; edgeId: string }
  | { kind: 'connect'; id: string; source: string; sourceHandle: string; target: string }
  | { kind: 'rename'; id: string; name: string }
  /** Sets parameters; undefined removes one. */
  | { kind: 'set'; id: string; params: Params }
  /** Changes the settings of a loop or parallel. */
  | { kind: 'container'; id: string; settings: Params }
  | { kind: 'enable'; ids: readonly string[]; enabled: boolean }
  | { kind: 'insert'; fragment: Fragment }
  | { kind: 'note'; note: Note }
  | { kind: 'variables'; variables: Variables }
  | { kind: 'limits'; limits: Limits }
  /** Offers the workflow to MCP clients; undefined when nothing is set. */
  | { kind: 'mcp'; mcp: Exposure | undefined }
  | { kind: 'describe'; name?: string; description?: string; folder?: string }
  /** Sets single values: the result of a comparison or a merge. */
  | { kind: 'change'; changes: readonly Change[] }
  /** Changes texts all over the document. */
  | ({ kind: 'rewrite' } & Rewrite)
  | { kind: 'replace'; document: Document }

/** Returns the document after an edit, or the same object when the edit does not apply. Never mutates its arguments. */
export function applyEdit(document: Document, edit: Edit): Document {
  switch (edit.kind) {
    case 'add':
      return add(document, edit)
    case 'move':
      return move(document, edit.to)
    case 'nest':
      return nest(document, edit)
    case 'remove':
      return remove(document, edit)
    case 'convert':
      return convert(document, edit)
    case 'splice':
      return splice(document, edit)
    case 'connect':
      return connect(document, edit)
    case 'rename':
      return rename(document, edit)
    case 'set':
      return setParams(document, edit)
    case 'container':
      return setContainer(document, edit)
    case 'enable':
      return changeBlocks(document, edit.ids, (block) =>
        (block.enabled ?? true) === edit.enabled ? block : { ...block, enabled: edit.enabled },
      )
    case 'insert':
      return insertFragment(document, edit.fragment)
    case 'note':
      return { ...document, notes: { ...document.notes, [edit.note.id]: edit.note } }
    case 'variables':
      return { ...document, variables: edit.variables }
    case 'limits': {
      const { limits: _, ...rest } = document
      return Object.keys(edit.limits).length === 0 ? rest : { ...rest, limits: edit.limits }
    }
    case 'mcp': {
      const { mcp: _, ...rest } = document
      return edit.mcp ? { ...rest, mcp: edit.mcp } : rest
    }
    case 'describe': {
      const { kind: _, ...texts } = edit
      return { ...document, ...texts }
    }
    case 'change':
      return edit.changes.length === 0 ? document : tidied(repair(applyChanges(document, edit.changes), noEdges))
    case 'rewrite':
      return rewrite(document, edit)
    case 'replace':
      return edit.document
  }
}

const noEdges: ReadonlySet<string> = new Set()

/** Applies the editor's rules to a document that was not made by its edits. */
export function tidied(document: Document): Document {
  return dropLooseEdges(syncNodes(document))
}

/** Merges two drafts that were made from the same one. */
export function mergeDrafts(drafts: { base: Document; mine: Document; theirs: Document }): Merge<Document> {
  return merge(drafts, tidied)
}

function add(document: Document, { block, edgeId, from, onEdge }: Extract<Edit, { kind: 'add' }>): Document {
  if (document.blocks[block.id]) return document
  if (isTrigger(block) && Object.values(document.blocks).some(({ type }) => type === block.type)) return document
  const named = { ...block, name: freeName(document, block.name) }
  let next = withContainer({ ...document, blocks: { ...document.blocks, [block.id]: named } }, named)
  if (onEdge) next = splice(next, { id: block.id, onEdge, edgeId })
  if (from) next = connect(next, { id: edgeId, ...from, target: block.id })
  return block.parentId ? connectStart(next, block.parentId, [block.id]) : next
}

function move(document: Document, to: Readonly<Record<string, Point>>): Document {
  const moved = changeBlocks(document, Object.keys(to), (block) => {
    const point = to[block.id]
    return point && (point.x !== block.position?.x || point.y !== block.position?.y)
      ? { ...block, position: { x: point.x, y: point.y } }
      : block
  })
  const notes = Object.values(document.notes ?? {}).filter(({ id }) => to[id])
  if (notes.length === 0) return moved
  const placed = Object.fromEntries(notes.map((note) => [note.id, { ...note, position: { ...to[note.id]! } }]))
  return { ...moved, notes: { ...moved.notes, ...placed } }
}

function nest(document: Document, { parentId, to }: Extract<Edit, { kind: 'nest' }>): Document {
  const container = parentId === null ? undefined : document.blocks[parentId]
  if (parentId !== null && !(container && isContainer(container))) return document
  const ids = Object.keys(to).filter((id) => {
    const block = document.blocks[id]
    if (!block || (block.parentId ?? null) === parentId) return false
    // A trigger cannot be inside a container, and a container cannot be inside itself.
    return parentId === null || !(isTrigger(block) || withInner(document, [id]).has(parentId))
  })
  if (ids.length === 0) return move(document, to)
  const nested = changeBlocks(document, ids, ({ parentId: _, ...block }) => ({
    ...block,
    position: { ...to[block.id]! },
    ...(parentId === null ? {} : { parentId }),
  }))
  const settled = dropLooseEdges(syncNodes(move(nested, to)))
  return parentId === null ? settled : connectStart(settled, parentId, ids)
}

function remove(document: Document, { blocks = [], edges = [], notes = [] }: Extract<Edit, { kind: 'remove' }>) {
  const gone = withInner(document, blocks)
  const goneEdges = new Set(edges)
  const goneNotes = notes.filter((id) => document.notes?.[id])
  const hasEdges = document.edges.some(({ id }) => id !== undefined && goneEdges.has(id))
  if (gone.size === 0 && !hasEdges && goneNotes.length === 0) return document
  const left = { ...document, edges: document.edges.filter(({ id }) => id === undefined || !goneEdges.has(id)) }
  const healed = blocks.length === 1 && edges.length === 0 ? heal(left, blocks[0]!) : left
  const without = <Member>(members: Record<string, Member>, ids: { has(id: string): boolean }) =>
    Object.fromEntries(Object.entries(members).filter(([id]) => !ids.has(id)))
  return syncNodes({
    ...healed,
    blocks: without(healed.blocks, gone),
    edges: healed.edges.filter(({ source, target }) => !gone.has(source) && !gone.has(target)),
    ...(healed.loops ? { loops: without(healed.loops, gone) } : {}),
    ...(healed.parallels ? { parallels: without(healed.parallels, gone) } : {}),
    ...(healed.notes ? { notes: without(healed.notes, new Set(goneNotes)) } : {}),
  })
}

function rename(document: Document, { id, name }: Extract<Edit, { kind: 'rename' }>): Document {
  const block = document.blocks[id]
  const wanted = name.trim()
  if (!block || wanted === '' || block.name === wanted) return document
  if (nameError(document, id, wanted) !== undefined) return document
  const named = changeBlocks(document, [id], (one) => ({ ...one, name: wanted }))
  const [from, to] = [normaliseName(block.name), normaliseName(wanted)]
  return from === to ? named : renameReferences(named, new Map([[from, to]]))
}

/** Why a block cannot have a name, as text for people; undefined when it can. */
export function nameError({ blocks }: Document, id: string, name: string): string | undefined {
  const wanted = normaliseName(name)
  const other = Object.values(blocks).find((block) => block.id !== id && normaliseName(block.name) === wanted)
  return (
    other && `A block named “${other.name}” already exists. Choose another name: references identify blocks by name.`
  )
}

function setParams(document: Document, { id, params }: Extract<Edit, { kind: 'set' }>): Document {
  const block = document.blocks[id]
  if (!block) return document
  const merged = Object.entries({ ...block.params, ...params }).filter(([, value]) => value !== undefined)
  const next = changeBlocks(document, [id], (one) => ({ ...one, params: Object.fromEntries(merged) }))
  // Removing a branch removes its edges.
  return block.type === 'condition' || block.type === 'router' ? dropLooseEdges(next) : next
}

function setContainer(document: Document, { id, settings }: Extract<Edit, { kind: 'container' }>): Document {
  const block = document.blocks[id]
  const list = block?.type === 'loop' ? 'loops' : block?.type === 'parallel' ? 'parallels' : undefined
  const entry = list && document[list]?.[id]
  if (!list || !entry) return document
  const merged = Object.entries({ ...entry, ...settings }).filter(([, value]) => value !== undefined)
  return { ...document, [list]: { ...document[list], [id]: Object.fromEntries(merged) } }
}

function changeBlocks(document: Document, ids: readonly string[], change: (block: Block) => Block): Document {
  const changed = ids.flatMap((id) => {
    const block = document.blocks[id]
    const next = block && change(block)
    return next && next !== block ? [[id, next] as const] : []
  })
  return changed.length === 0
    ? document
    : { ...document, blocks: { ...document.blocks, ...Object.fromEntries(changed) } }
}

/**
 * Completes a document for the editor: every block names its container, every container has an entry, every block has a
 * position.
 */
export function openDocument(document: Document): Document {
  const parents = new Map<string, string>()
  for (const [id, { nodes }] of Object.entries({ ...document.loops, ...document.parallels })) {
    for (const node of nodes ?? []) if (document.blocks[id]) parents.set(node, id)
  }
  const blocks = Object.fromEntries(
    Object.entries(document.blocks).map(([id, block]) => {
      const parentId = block.parentId ?? parents.get(id)
      return [id, parentId && !block.parentId && parentId !== id ? { ...block, parentId } : block]
    }),
  )
  const edges = document.edges.map((edge, at) => ({ ...edge, id: edge.id ?? `edge-${at + 1}` }))
  let next: Document = { ...document, blocks, edges }
  for (const block of Object.values(blocks)) if (block.type in containerHandles) next = withContainer(next, block)
  return placeBlocks(next)
}
