import { EdgeLabelRenderer, useStore } from '@xyflow/react'
import { Plus, Trash2 } from 'lucide-react'
import { useContext } from 'react'
import type { Point } from '../../document/document.ts'
import { useDraft, useEditing } from '../../editing.tsx'
import { EdgeClick } from './edge-click.ts'

/**
 * The buttons of a line: insert in its middle, and remove beside it, at a right angle and out of reach of a click on
 * the line. They have the same size on the screen at every zoom.
 */
export function LineTools({ id, x, y, along, isPointed }: Point & { id: string; along: Point; isPointed: boolean }) {
  const { draft } = useEditing()
  const onInsert = useContext(EdgeClick)
  const zoom = useStore(({ transform }) => transform[2])
  // Selected together with blocks or other lines, a line has no tools: the selection has its own.
  const isAlone = useDraft(({ selected, selectedEdges }) => selected.size === 0 && selectedEdges.size === 1)
  if (!isPointed && !isAlone) return null
  const aside = asideOf(along)
  const angle = Math.atan2(aside.y, aside.x)
  return (
    <EdgeLabelRenderer>
      <div
        style={{ transform: `translate(${x}px, ${y}px) scale(${1 / zoom})` }}
        className="line-tools nodrag nopan"
        data-line={id}
      >
        {/* Keeps the line active while the pointer moves from it to the button. */}
        <span style={{ width: distance, transform: `translateY(-50%) rotate(${angle}rad)` }} aria-hidden="true" />
        <button
          type="button"
          aria-label="Insert block"
          title="Insert block"
          style={{ transform: 'translate(-50%, -50%)' }}
          onClick={(event) => {
            // Otherwise the line would be selected.
            event.stopPropagation()
            onInsert(id, event.currentTarget)
          }}
        >
          <Plus size={14} />
        </button>
        <button
          type="button"
          aria-label="Remove connection"
          title="Remove connection"
          style={{ transform: `translate(-50%, -50%) translate(${aside.x * distance}px, ${aside.y * distance}px)` }}
          onClick={() => draft.perform({ kind: 'remove', edges: [id] })}
        >
          <Trash2 size={13} />
        </button>
      </div>
    </EdgeLabelRenderer>
  )
}

/** The distance of the remove button from the middle of the line, on the screen. */
const distance = 42

/** The direction at a right angle to a line, downwards or to the right. */
function asideOf({ x, y }: Point): Point {
  const length = Math.hypot(x, y) || 1
  const aside = { x: -y / length, y: x / length }
  const isTurned = aside.y < -0.01 || (Math.abs(aside.y) <= 0.01 && aside.x < 0)
  return isTurned ? { x: -aside.x, y: -aside.y } : aside
}
