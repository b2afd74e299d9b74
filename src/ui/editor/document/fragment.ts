import { renameReferences } from '../../../domain/edits/rename-references.ts'
import { isRecord } from '../../../domain/edits/same-value.ts'
import { syncNodes } from './containers.ts'
import {
  absolutePosition,
  type Block,
  type Document,
  type Edge,
  FreeNames,
  isTrigger,
  type Loop,
  type Note,
  normaliseName,
  type Parallel,
  type Point,
  positionOf,
  withInner,
} from './document.ts'
import { connectStart, dropLooseEdges } from './wiring.ts'

/** Blocks and the edges between them: the unit of copy, paste and duplicate. */
export type Fragment = {
  blocks: Record<string, Block>
  edges: Edge[]
  loops: Record<string, Loop>
  parallels: Record<string, Parallel>
  notes: Record<string, Note>
}

/** Extracts blocks (containers with their contents) and notes from a document. */
export function takeFragment(document: Document, ids: Iterable<string>): Fragment {
  const list = [...ids]
  const taken = withInner(document, list)
  const pick = <Member>(members: Record<string, Member> | undefined, chosen: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(members ?? {}).filter(([id]) => chosen.has(id)))
  return {
    blocks: Object.fromEntries(
      Object.entries(pick(document.blocks, taken)).map(([id, block]) => [id, outermost(document, taken, block)]),
    ),
    edges: document.edges.filter(({ source, target }) => taken.has(source) && taken.has(target)),
    loops: pick(document.loops, taken),
    parallels: pick(document.parallels, taken),
    notes: pick(document.notes, new Set(list)),
  }
}

/** A block whose container is not taken along keeps its place on the canvas. */
function outermost(document: Document, taken: ReadonlySet<string>, block: Block): Block {
  if (!block.parentId || taken.has(block.parentId)) return block
  const { parentId: _, ...free } = block
  return { ...free, position: absolutePosition(document, block.id) }
}

/** Identifies a fragment on the clipboard. */
const marker = 'millrace/blocks'

export function fragmentText(fragment: Fragment): string {
  return JSON.stringify({ kind: marker, ...fragment }, null, 2)
}

/** Reads copied blocks or a whole workflow document from text. Returns undefined for anything else. */
export function readFragment(text: string): Fragment | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(value) || !isRecord(value['blocks']) || !Array.isArray(value['edges'])) return undefined
  const blocks = Object.entries(value['blocks']).filter(
    ([id, block]) => id !== '__proto__' && isRecord(block) && typeof block['type'] === 'string',
  )
  const named = blocks.map(([id, block]) => {
    const { name, type, ...rest } = block as Block
    return [id, { ...rest, type, name: typeof name === 'string' && name.trim() ? name : type, id }] as const
  })
  const edges = value['edges'].filter(
    (edge) => isRecord(edge) && typeof edge['source'] === 'string' && typeof edge['target'] === 'string',
  ) as Edge[]
  const members = <Member>(name: string) => (isRecord(value[name]) ? value[name] : {}) as Record<string, Member>
  return {
    blocks: Object.fromEntries(named),
    edges,
    loops: members<Loop>('loops'),
    parallels: members<Parallel>('parallels'),
    notes: members<Note>('notes'),
  }
}

/**
 * Prepares a fragment for insertion: new ids, positions moved by `by`, and names that are free in the document.
 * References between its blocks follow the new names. A trigger whose type already exists in the document is skipped.
 */
export function freshFragment(
  fragment: Fragment,
  document: Document,
  { newId, by, parentId = null }: { newId: () => string; by: Point; parentId?: string | null },
): Fragment {
  const types = new Set(Object.values(document.blocks).map(({ type }) => type))
  const blocks = Object.values(fragment.blocks).filter((block) => !(isTrigger(block) && types.has(block.type)))
  const ids = new Map([...blocks.map(({ id }) => id), ...Object.keys(fragment.notes)].map((id) => [id, newId()]))
  const names = new FreeNames(document)
  const renamed: [string, string][] = []
  const fresh = blocks.map(({ parentId: parent, ...block }) => {
    const name = names.take(block.name)
    if (name !== block.name) renamed.push([normaliseName(block.name), normaliseName(name)])
    const inner = parent ? ids.get(parent) : undefined
    const { x, y } = positionOf(block)
    const place = inner ? { position: { x, y }, parentId: inner } : { position: { x: x + by.x, y: y + by.y } }
    return { ...block, ...place, ...(inner || parentId === null ? {} : { parentId }), id: ids.get(block.id)!, name }
  })
  const entries = <Entry extends { id?: string; nodes?: string[] }>(members: Record<string, Entry>) =>
    Object.fromEntries(
      Object.entries(members).flatMap(([id, entry]) => {
        const own = ids.get(id)
        const nodes = (entry.nodes ?? []).flatMap((node) => ids.get(node) ?? [])
        return own ? [[own, { ...entry, id: own, nodes }]] : []
      }),
    )
  const copy: Document = {
    name: 'copy',
    blocks: Object.fromEntries(fresh.map((block) => [block.id, block])),
    edges: fragment.edges.flatMap((edge) => {
      const [source, target] = [ids.get(edge.source), ids.get(edge.target)]
      return source && target ? [{ ...edge, id: newId(), source, target }] : []
    }),
    loops: entries(fragment.loops),
    parallels: entries(fragment.parallels),
  }
  const notes = Object.entries(fragment.notes).map(([id, note]) => {
    const { x, y } = note.position
    return [ids.get(id)!, { ...note, id: ids.get(id)!, position: { x: x + by.x, y: y + by.y } }] as const
  })
  const named = renameReferences(copy, new Map(renamed))
  return {
    blocks: named.blocks,
    edges: named.edges,
    loops: named.loops ?? {},
    parallels: named.parallels ?? {},
    notes: Object.fromEntries(notes),
  }
}

/** Inserts a fragment with fresh ids. Returns the document itself if the fragment is empty or was already inserted. */
export function insertFragment(document: Document, fragment: Fragment): Document {
  const isTaken = Object.keys(fragment.blocks).some((id) => document.blocks[id])
  if (isTaken || Object.keys(fragment.blocks).length + Object.keys(fragment.notes).length === 0) return document
  const merged = {
    ...document,
    blocks: { ...document.blocks, ...fragment.blocks },
    edges: [...document.edges, ...fragment.edges],
    loops: { ...document.loops, ...fragment.loops },
    parallels: { ...document.parallels, ...fragment.parallels },
    notes: { ...document.notes, ...fragment.notes },
  }
  const settled = dropLooseEdges(syncNodes(merged))
  const inner = Object.values(fragment.blocks).filter(({ parentId }) => parentId && !fragment.blocks[parentId])
  const byParent = Map.groupBy(inner, ({ parentId }) => parentId!)
  return [...byParent].reduce(
    (next, [id, blocks]) =>
      connectStart(
        next,
        id,
        blocks.map((block) => block.id),
      ),
    settled,
  )
}
