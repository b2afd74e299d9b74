import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { useToast } from '../../parts/toast.tsx'
import { documentOf } from '../document/document-of.ts'
import { useEditing } from '../editing.tsx'
import { loadWorkflow } from '../editor-queries.ts'
import type { Autosave } from './autosave.ts'

/** Lets the user choose between two conflicting versions. Nothing is saved until then. */
export function ConflictNotice({ autosave, message }: { autosave: Autosave; message: string }) {
  const { workflowId } = useEditing()
  const toast = useToast()
  const [busy, setBusy] = useState(false)
  const choose = async (way: () => Promise<void>) => {
    setBusy(true)
    try {
      await way()
    } catch (error) {
      toast.fail(error)
    } finally {
      setBusy(false)
    }
  }
  const takeTheirs = async () => {
    const found = await loadWorkflow(workflowId)
    autosave.adopt(documentOf(found), found.revision)
  }
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-4 py-2 text-sm text-warn-text"
    >
      <TriangleAlert size={16} aria-hidden="true" />
      <span className="min-w-60 flex-1">{message} Your changes are not saved until you choose a version.</span>
      <Button size="small" busy={busy} onClick={() => void choose(takeTheirs)}>
        Load the saved version
      </Button>
      <Button size="small" look="danger" busy={busy} onClick={() => void choose(() => autosave.overwrite())}>
        Overwrite with mine
      </Button>
    </div>
  )
}
