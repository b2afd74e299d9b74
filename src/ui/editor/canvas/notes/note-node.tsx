import { type NodeProps, NodeResizer } from '@xyflow/react'
import { memo, useState } from 'react'
import { useEditing } from '../../editing.tsx'
import type { NoteNode } from '../canvas-nodes.ts'
import { noteLeast, sizeOfNote } from '../geometry.ts'

/** A note on the canvas, above the blocks. Double-click or press Enter to edit it. */
export const NoteCard = memo(function NoteCard({ data: { note }, selected }: NodeProps<NoteNode>) {
  const { draft, readOnly } = useEditing()
  const [isOpen, setIsOpen] = useState(note.text === '' && !readOnly)
  return (
    <div className="note h-full w-full rounded-lg p-3 text-sm shadow-card" data-color={note.color ?? 'yellow'}>
      {!readOnly && (
        <NodeResizer
          isVisible={selected}
          minWidth={noteLeast.width}
          minHeight={noteLeast.height}
          onResizeEnd={(_, { x, y, width, height }) =>
            draft.perform({ kind: 'note', note: { ...note, position: { x, y }, ...sizeOfNote({ width, height }) } })
          }
        />
      )}
      {isOpen ? (
        <textarea
          // biome-ignore lint/a11y/noAutofocus: it opens for writing
          autoFocus
          aria-label="Note"
          defaultValue={note.text}
          onBlur={(event) => {
            setIsOpen(false)
            if (event.target.value !== note.text) {
              draft.perform({ kind: 'note', note: { ...note, text: event.target.value.slice(0, 20_000) } })
            }
          }}
          onKeyDown={(event) => {
            event.stopPropagation()
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
          className="nodrag nowheel h-full w-full resize-none bg-transparent outline-none"
        />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button below does the same for the keyboard
        <div
          onDoubleClick={() => readOnly || setIsOpen(true)}
          className="h-full overflow-hidden break-words whitespace-pre-wrap"
        >
          {note.text || <span className="opacity-75">Empty note</span>}
          {!readOnly && (
            // Enter and the menu of the note press this button.
            <button type="button" tabIndex={-1} data-edit-note className="sr-only" onClick={() => setIsOpen(true)}>
              Edit note
            </button>
          )}
        </div>
      )}
    </div>
  )
})
