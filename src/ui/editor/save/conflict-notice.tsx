import { TriangleAlert } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useDraft, useEditing } from '../editing.tsx'
import { useTogether } from '../together/together-context.tsx'
import type { Autosave, SaveState } from './autosave.ts'
import { conflictLabel, conflictSummary, conflictValue } from './conflict-texts.ts'

const ConflictDialog = lazy(async () => ({ default: (await import('./conflict-dialog.tsx')).ConflictDialog }))

/** Says which values somebody else has changed too, and lets the user choose. Nothing is saved until then. */
export function ConflictNotice({
  autosave,
  conflict: { conflicts, savedAt },
}: {
  autosave: Autosave
  conflict: Extract<SaveState, { phase: 'conflict' }>
}) {
  const { types } = useEditing()
  const toast = useToast()
  const [isOpen, setIsOpen] = useState(false)
  const document = useDraft((state) => state.document)
  const draft = useTogether((state) => state.draft)
  const labels = conflicts.map((conflict) => conflictLabel(conflict, document, types))
  const who = draft?.savedBy ?? 'Somebody else'
  const at = new Date(draft?.savedAt ?? savedAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  const resolve = (taken: typeof conflicts) => autosave.resolve(taken).catch(toast.fail)
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn-text"
    >
      <TriangleAlert size={16} aria-hidden="true" className="shrink-0" />
      <span className="min-w-60 flex-1 break-words">
        {who} also changed {conflictSummary(labels)}, at {at}. Your version is not saved until you choose. All other
        changes are merged.
      </span>
      <div className="flex gap-2">
        <Button size="small" look="primary" onClick={() => setIsOpen(true)}>
          Compare
        </Button>
        <Button size="small" onClick={() => void resolve([])}>
          Keep mine
        </Button>
        <Button size="small" onClick={() => void resolve(conflicts)}>
          Take theirs
        </Button>
      </div>
      {isOpen && (
        <Suspense>
          <ConflictDialog
            conflicts={conflicts}
            labels={labels}
            textOf={(value, conflict) => conflictValue(value, conflict, document, types)}
            who={who}
            onClose={() => setIsOpen(false)}
            onChoose={resolve}
          />
        </Suspense>
      )}
    </div>
  )
}
