import { apiParametersOf } from '../../../domain/curl/api-parameters.ts'
import { isCurl, readCurl } from '../../../domain/curl/curl.ts'
import {
  type Box,
  clampInside,
  containerAt,
  freeSpot,
  placesOf,
  type Sizes,
  sizeOfNote,
  sizesOf,
} from '../canvas/geometry.ts'
import type { Draft } from '../save/draft.ts'
import { absolutePosition, type Document, isTrigger, type Point, positionOf, withInner } from './document.ts'
import { type Fragment, fragmentText, freshFragment, readFragment, takeFragment } from './fragment.ts'
import { freshId } from './fresh-id.ts'
import { withRoom } from './push-neighbours.ts'

/** Copy, paste and duplicate. */
export function clipboardActions({
  draft,
  readOnly,
  sizes,
  onInserted,
  onNothing,
  onLeft,
}: {
  draft: Draft
  readOnly: boolean
  sizes: () => Sizes
  /** Receives the ids of the inserted outermost blocks and notes. */
  onInserted: (ids: string[]) => void
  onNothing: () => void
  /** Receives what a pasted cURL command has that the block does not. */
  onLeft: (reasons: readonly string[]) => void
}) {
  const now = () => draft.state()
  const insert = (fragment: Fragment, wanted: Point, parentId: string | null) => {
    const { document } = now()
    const spot = spotFor(document, sizes(), fragment, wanted, parentId)
    const fresh = freshFragment(fragment, document, { newId: freshId, ...spot })
    const ids = [
      ...Object.keys(fresh.blocks).filter((id) => (fresh.blocks[id]?.parentId ?? null) === spot.parentId),
      ...Object.keys(fresh.notes),
    ]
    if (ids.length === 0) return onNothing()
    draft.perform(withRoom(document, [{ kind: 'insert', fragment: fresh }], sizes()))
    draft.select(ids)
    onInserted(ids)
  }
  return {
    copyText(): string | undefined {
      const { document, selected } = now()
      return selected.size === 0 ? undefined : fragmentText(takeFragment(document, selected))
    },
    /** Places the copies below the originals, in the same container. */
    duplicate(): void {
      const { document, selected } = now()
      if (readOnly || selected.size === 0) return
      const fragment = takeFragment(document, selected)
      const parents = new Set(rootsOf(fragment).map(({ id }) => document.blocks[id]?.parentId ?? null))
      const [parentId = null] = parents.size === 1 ? parents : []
      const { x, y } = boundsOf(document, fragment)
      insert(fragment, { x: x + 40, y: y + 60 }, parentId)
    },
    /**
     * Pastes text at a point of the canvas, in the container there, in free space. A copied container is not pasted
     * into itself. Returns false when the text contains no blocks.
     */
    paste(text: string, point: Point): boolean {
      if (readOnly) return false
      const request = isCurl(text) ? requestFragment(text, onLeft) : undefined
      const fragment = request ?? readFragment(text)
      if (!fragment) return false
      const { document } = now()
      const copied = withInner(document, Object.keys(fragment.blocks))
      insert(fragment, point, containerAt(document, sizes(), point, copied))
      return true
    },
  }
}

/** An API block that sends the request of a cURL command; undefined when the command has no URL. */
function requestFragment(text: string, onLeft: (reasons: readonly string[]) => void): Fragment | undefined {
  const read = readCurl(text)
  if (!read) return undefined
  const { params, notTaken } = apiParametersOf(read)
  if (notTaken.length > 0) onLeft(notTaken.map(({ reason }) => reason))
  const id = freshId()
  const block = { id, type: 'api', name: 'Request', position: { x: 0, y: 0 }, enabled: true, params }
  return { blocks: { [id]: block }, edges: [], notes: {}, loops: {}, parallels: {} }
}

/** Blocks of a fragment that are in none of its containers. */
function rootsOf({ blocks }: Fragment) {
  return Object.values(blocks).filter(({ parentId }) => !parentId || !blocks[parentId])
}

/** The bounds of a fragment, in its own coordinates: those of the canvas. */
function boundsOf(document: Document, fragment: Fragment): Box {
  const known = sizesOf({ ...document, ...fragment })
  const boxes = [
    ...rootsOf(fragment).map((block) => ({ ...positionOf(block), ...known.get(block.id)! })),
    ...Object.values(fragment.notes).map((note) => ({ ...note.position, ...sizeOfNote(note) })),
  ]
  const x = Math.min(...boxes.map((box) => box.x))
  const y = Math.min(...boxes.map((box) => box.y))
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - x
  return { x, y, width, height: Math.max(...boxes.map((box) => box.y + box.height)) - y }
}

/** Where a fragment goes: the container, and how far its outermost blocks move. */
function spotFor(
  document: Document,
  sizes: Sizes,
  fragment: Fragment,
  wanted: Point,
  container: string | null,
): { parentId: string | null; by: Point } {
  // Triggers cannot be in containers, and notes are never in one.
  const isOuter = rootsOf(fragment).some(isTrigger) || rootsOf(fragment).length === 0
  const parentId = isOuter ? null : container
  const origin = parentId === null ? { x: 0, y: 0 } : absolutePosition(document, parentId)
  const bounds = boundsOf(document, fragment)
  const places = placesOf(document)
  const boxes = Object.values(document.blocks)
    .filter((block) => (block.parentId ?? null) === parentId)
    .map(({ id }) => ({ ...places.get(id)!, ...sizes.get(id) }))
    .map((box) => ({ ...box, x: box.x - origin.x, y: box.y - origin.y }))
  const notes = parentId === null ? Object.keys(document.notes ?? {}).map((id) => places.get(id)!) : []
  const start = clampInside({ x: wanted.x - origin.x, y: wanted.y - origin.y }, parentId)
  const least = parentId === null ? undefined : clampInside({ x: 0, y: 0 }, parentId)
  const corner = freeSpot([...boxes, ...notes], start, bounds, least)
  return { parentId, by: { x: corner.x - bounds.x, y: corner.y - bounds.y } }
}
