import { LayoutGrid, Map as MapIcon, Maximize, Plus, Redo2, StickyNote, Undo2, ZoomIn, ZoomOut } from 'lucide-react'
import { IconButton } from '../../parts/button.tsx'
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
            keys="/"
            side="right"
            icon={<Plus size={17} />}
            onClick={onPalette ?? onQuick}
            className="bg-accent! text-on-accent! hover:bg-accent-hover!"
          />
          <IconButton
            label="Add note"
            keys="N"
            side="right"
            icon={<StickyNote size={16} />}
            onClick={actions.addNote}
          />
          <IconButton label="Tidy up" keys="L" side="right" icon={<LayoutGrid size={16} />} onClick={actions.tidy} />
        </div>
      )}
      <div className="absolute bottom-3 left-3 z-10 flex gap-0.5 rounded-lg bg-surface p-1 shadow-card">
        {!readOnly && (
          <>
            <IconButton
              label="Undo"
              keys="Mod+Z"
              side="top"
              icon={<Undo2 size={16} />}
              disabled={!canUndo}
              onClick={actions.undo}
            />
            <IconButton
              label="Redo"
              keys="Mod+Shift+Z"
              side="top"
              icon={<Redo2 size={16} />}
              disabled={!canRedo}
              onClick={actions.redo}
            />
            <span className="mx-1 my-1.5 w-px bg-line" />
          </>
        )}
        <IconButton label="Zoom out" keys="-" side="top" icon={<ZoomOut size={16} />} onClick={actions.zoomOut} />
        <IconButton label="Zoom in" keys="+" side="top" icon={<ZoomIn size={16} />} onClick={actions.zoomIn} />
        <IconButton label="Fit to view" keys="F" side="top" icon={<Maximize size={15} />} onClick={actions.fit} />
        <IconButton label="Minimap" side="top" icon={<MapIcon size={15} />} pressed={showMap} onClick={onMap} />
      </div>
    </>
  )
}
