import type { Edge as FlowEdge, Node } from '@xyflow/react'
import {
  type Block,
  type Document,
  handleOf,
  homeOf,
  isContainer,
  type Note,
  type Point,
  portsOf,
  positionOf,
} from '../document/document.ts'
import { type Size, type Sizes, sizeOfNote, sizesOf } from './geometry.ts'
import { portPlaces } from './port-places.ts'

type Data = { block: Block; document: Document | undefined; size: Size }
export type BlockNode = Node<Data, 'block'>
export type ContainerNode = Node<Data, 'container'>
export type NoteNode = Node<{ note: Note }, 'note'>
export type CanvasNode = BlockNode | ContainerNode | NoteNode
export type CanvasEdge = FlowEdge<{ handle: string }, 'flow'>

/** Converts a document into canvas nodes. Unchanged nodes keep their identity, so they are not redrawn. */
export function nodesOf(
  document: Document,
  before: readonly CanvasNode[],
  selected: ReadonlySet<string>,
): CanvasNode[] {
  const known = new Map(before.map((node) => [node.id, node]))
  // A card that is out of view is not measured again when its outputs change.
  const isOutdated = ({ type, id, data }: CanvasNode) => type === 'block' && isReshaped(data.block, document.blocks[id])
  const sizes = sizesOf(document, measuredSizes(before.filter((node) => !isOutdated(node))))
  const home = homeOf(document, selected)
  const blocks = outermostFirst(document).map((block): CanvasNode => {
    const old = known.get(block.id)
    const type = isContainer(block) ? ('container' as const) : ('block' as const)
    const place = {
      position: positionOf(block),
      parent: block.parentId ?? undefined,
      size: isContainer(block) ? sizes.get(block.id) : undefined,
    }
    const size = sizes.get(block.id)!
    // A node with a known size is shown without being measured first.
    const measured = old && !isOutdated(old) ? (old.measured ?? size) : size
    const isSelected = selected.has(block.id)
    // Tab stops at one block; keys lead from there to the others.
    const tabIndex = block.id === home ? 0 : -1
    // The settings of a container are stored in the document, not in its block.
    const data: Data = { block, document: isContainer(block) ? document : undefined, size }
    if (
      old?.type === type &&
      sameData(old.data, data) &&
      samePlace(old, place) &&
      (old.selected ?? false) === isSelected &&
      old.domAttributes?.tabIndex === tabIndex
    )
      return old
    return {
      measured,
      handles: portPlaces(block, size),
      ...(place.parent === undefined ? {} : { parentId: place.parent }),
      ...(place.size ? { width: place.size.width, height: place.size.height } : {}),
      ...(type === 'container' ? { zIndex: 0 } : {}),
      id: block.id,
      type,
      position: place.position,
      selected: isSelected,
      domAttributes: { tabIndex },
      data,
    } as CanvasNode
  })
  const notes = Object.values(document.notes ?? {}).map((note): CanvasNode => {
    const old = known.get(note.id)
    const isSelected = selected.has(note.id)
    if (old?.type === 'note' && old.data.note === note && (old.selected ?? false) === isSelected) return old
    const size = sizeOfNote(note)
    return {
      ...size,
      measured: old?.measured ?? size,
      id: note.id,
      type: 'note',
      position: note.position,
      zIndex: noteLayer,
      selected: isSelected,
      data: { note },
    }
  })
  return [...notes, ...blocks]
}

/** Notes are above blocks, also above a selected one, which React Flow raises by 1000. */
const noteLayer = 1500

export function edgesOf(
  document: Document,
  before: readonly CanvasEdge[],
  selected: ReadonlySet<string>,
): CanvasEdge[] {
  const known = new Map(before.map((edge) => [edge.id, edge]))
  return document.edges.flatMap((edge): CanvasEdge[] => {
    if (!document.blocks[edge.source] || !document.blocks[edge.target]) return []
    // An edge from an inner block back to its container needs no line.
    if (document.blocks[edge.source]?.parentId === edge.target) return []
    const id = edge.id ?? `${edge.source}-${edge.target}`
    const handle = handleOf(document, edge)
    const old = known.get(id)
    const isSelected = selected.has(id)
    if (
      old?.source === edge.source &&
      old.target === edge.target &&
      old.data?.handle === handle &&
      (old.selected ?? false) === isSelected
    ) {
      return [old]
    }
    const ends = { source: edge.source, target: edge.target, sourceHandle: handle, targetHandle: 'target' }
    // Lines inside a container are drawn above it.
    const isInner = document.blocks[edge.target]?.parentId ? { zIndex: 1 } : {}
    // React Flow draws lines before blocks, so Tab would stop at all of them first: `useTabOrder` leads to them.
    const domAttributes = { tabIndex: -1 }
    return [{ id, type: 'flow', ...ends, ...isInner, domAttributes, selected: isSelected, data: { handle } }]
  })
}

export function measuredSizes(nodes: readonly CanvasNode[]): Sizes {
  return new Map(
    nodes.flatMap(({ id, type, measured }) =>
      type === 'block' && measured?.width && measured.height
        ? [[id, { width: measured.width, height: measured.height }] as const]
        : [],
    ),
  )
}

/** React Flow requires containers before their contents. */
function outermostFirst(document: Document): Block[] {
  const depth = (block: Block): number => {
    let count = 0
    for (let at: Block | undefined = block; at?.parentId && count < 50; at = document.blocks[at.parentId]) count += 1
    return count
  }
  return Object.values(document.blocks).toSorted((a, b) => depth(a) - depth(b))
}

/** Whether a change of a block may change the height of its card. */
function isReshaped(before: Block, block: Block | undefined): boolean {
  return block !== undefined && block !== before && portsOf(block).length !== portsOf(before).length
}

function sameData(a: unknown, b: Data): boolean {
  const old = a as Data
  if (old.block !== b.block || old.size.width !== b.size.width || old.size.height !== b.size.height) return false
  const { id } = b.block
  return (
    old.document?.loops?.[id] === b.document?.loops?.[id] &&
    old.document?.parallels?.[id] === b.document?.parallels?.[id]
  )
}

function samePlace(
  node: CanvasNode,
  place: { position: Point; parent: string | undefined; size: { width: number; height: number } | undefined },
): boolean {
  return (
    node.position.x === place.position.x &&
    node.position.y === place.position.y &&
    node.parentId === place.parent &&
    (!place.size || (node.width === place.size.width && node.height === place.size.height))
  )
}
