import { LayoutGrid, Map as MapIcon, Maximize, Plus, Redo2, StickyNote, Undo2, ZoomIn, ZoomOut } from 'lucide-react'
import { IconButton } from '../../parts/button.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import type { Actions } from '../document/actions.ts'
import { useDraft, useEditing } from '../editing.tsx'

/** The floating controls of the canvas: add, undo, zoom. */
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
    <>
      {!readOnly && (
        <div className="absolute top-3 left-3 z-10 flex flex-col gap-0.5 rounded-lg bg-surface p-1 shadow-card">
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
      <div className="absolute bottom-3 left-3 z-10 flex gap-0.5 rounded-lg bg-surface p-1 shadow-card">
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
    </>
  )
}
