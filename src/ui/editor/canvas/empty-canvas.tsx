import { useDraft, useEditing } from '../editing.tsx'

/** The hint on an empty canvas. It ignores the pointer, so that blocks can be dropped on it. */
export function EmptyCanvas() {
  const { readOnly } = useEditing()
  const isEmpty = useDraft(
    ({ document }) => Object.keys(document.blocks).length + Object.keys(document.notes ?? {}).length === 0,
  )
  if (!isEmpty) return null
  return (
    <div className="pointer-events-none absolute inset-0 z-10 flex flex-col items-center justify-center gap-1 px-6 text-center">
      <p className="text-base font-semibold">No blocks yet</p>
      {!readOnly && (
        <p className="max-w-80 text-sm text-muted">
          Add a block from the list or press <kbd className="font-mono text-text">/</kbd>. Every run starts at a
          trigger, such as the API trigger.
        </p>
      )}
    </div>
  )
}
