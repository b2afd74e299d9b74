import { type NodeProps, NodeResizer } from '@xyflow/react'
import { memo, useState } from 'react'
import { useEditing } from '../editing.tsx'
import type { NoteNode } from './canvas-nodes.ts'

/** A note on the canvas. Double-click or press Enter to edit it. */
export const NoteCard = memo(function NoteCard({ data: { note }, selected }: NodeProps<NoteNode>) {
  const { draft, readOnly } = useEditing()
  const [isOpen, setIsOpen] = useState(note.text === '' && !readOnly)
  return (
    <div className="note h-full w-full rounded-lg p-3 text-sm shadow-card">
      {!readOnly && (
        <NodeResizer
          isVisible={selected}
          minWidth={120}
          minHeight={60}
          onResizeEnd={(_, { x, y, width, height }) =>
            draft.perform({ kind: 'note', note: { ...note, position: { x, y }, width, height } })
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
        // biome-ignore lint/a11y/noStaticElementInteractions: the surrounding node handles the keys
        <div
          onDoubleClick={() => readOnly || setIsOpen(true)}
          className="h-full overflow-hidden break-words whitespace-pre-wrap"
        >
          {note.text || <span className="text-muted">Empty note</span>}
        </div>
      )}
    </div>
  )
})
