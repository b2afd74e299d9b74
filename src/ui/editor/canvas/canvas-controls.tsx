import { LayoutGrid, Map as MapIcon, Maximize, Plus, Redo2, StickyNote, Undo2, ZoomIn, ZoomOut } from 'lucide-react'
import { IconButton } from '../../parts/button.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'

/** The controls of the canvas: add, undo, zoom. They float over it, and are a bar below it on a narrow page. */
export function CanvasControls({
  actions,
  onPalette,
  onQuick,
  showMap,
  onMap,
}: {
  actions: Actions
  /** Undefined while the palette is open. */
  onPalette: (() => void) | undefined
  onQuick: () => void
  showMap: boolean
  onMap: () => void
}) {
  const { readOnly } = useEditing()
  const canUndo = useDraft((state) => state.canUndo)
  const canRedo = useDraft((state) => state.canRedo)
  return (
    <div className="max-md:absolute max-md:inset-x-0 max-md:bottom-0 max-md:flex max-md:h-11 max-md:items-center max-md:justify-between max-md:border-t max-md:border-line max-md:bg-surface max-md:px-1">
      {!readOnly && (
        <div className="flex md:absolute md:top-3 md:left-3 md:z-10 md:flex-col md:gap-0.5 md:rounded-lg md:bg-surface md:p-1 md:shadow-card">
          <IconButton
            label="Add block"
            keys={keyOf('add-block')}
            side="right"
            icon={<Plus size={17} />}
            onClick={onPalette ?? onQuick}
            className="text-accent-text!"
          />
          <IconButton
            label="Add note"
            keys={keyOf('note')}
            side="right"
            icon={<StickyNote size={16} />}
            onClick={() => actions.addNote()}
          />
          <IconButton
            label="Tidy up"
            keys={keyOf('tidy')}
            side="right"
            icon={<LayoutGrid size={16} />}
            onClick={actions.tidy}
          />
        </div>
      )}
      <div className="flex md:absolute md:bottom-3 md:left-3 md:z-10 md:gap-0.5 md:rounded-lg md:bg-surface md:p-1 md:shadow-card">
        {!readOnly && (
          <>
            <IconButton
              label="Undo"
              keys={keyOf('undo')}
              side="top"
              icon={<Undo2 size={16} />}
              disabled={!canUndo}
              onClick={actions.undo}
            />
            <IconButton
              label="Redo"
              keys={keyOf('redo')}
              side="top"
              icon={<Redo2 size={16} />}
              disabled={!canRedo}
              onClick={actions.redo}
            />
            <span className="mx-1 my-1.5 w-px bg-line" />
          </>
        )}
        <IconButton
          label="Zoom out"
          keys={keyOf('zoom-out')}
          side="top"
          icon={<ZoomOut size={16} />}
          onClick={actions.zoomOut}
        />
        <IconButton
          label="Zoom in"
          keys={keyOf('zoom-in')}
          side="top"
          icon={<ZoomIn size={16} />}
          onClick={actions.zoomIn}
        />
        <IconButton
          label="Fit to view"
          keys={keyOf('fit')}
          side="top"
          icon={<Maximize size={15} />}
          onClick={actions.fit}
        />
        <IconButton label="Minimap" side="top" icon={<MapIcon size={15} />} pressed={showMap} onClick={onMap} />
      </div>
    </div>
  )
}
