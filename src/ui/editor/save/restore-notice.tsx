import { History } from 'lucide-react'
import { useState } from 'react'
import { changesBetween } from '../../../domain/edits/change.ts'
import { Button } from '../../parts/button.tsx'
import { mergeDrafts } from '../document/edit.ts'
import { useEditing } from '../editing.tsx'
import type { Autosave } from './autosave.ts'
import type { UnsavedCopies, UnsavedCopy } from './unsaved-copies.ts'

/** Offers work that an earlier editor of this browser could not save. */
export function RestoreNotice({ autosave, copies }: { autosave: Autosave; copies: UnsavedCopies }) {
  const { draft } = useEditing()
  const inDraft = ({ base, document: mine }: UnsavedCopy) => {
    const theirs = draft.state().document
    const { document, conflicts } = mergeDrafts({ base, mine, theirs })
    return { theirs, conflicts, changes: changesBetween(theirs, document) }
  }
  const [offered, setOffered] = useState(() =>
    copies.list().filter((copy) => {
      // The last request may have been successful although the page was closed before the response.
      const isNew = inDraft(copy).changes.length > 0
      if (!isNew) copies.discard(copy)
      return isNew
    }),
  )
  const [copy] = offered
  if (!copy) return null
  const done = () => {
    copies.discard(copy)
    setOffered(offered.slice(1))
  }
  const restore = () => {
    const { changes, conflicts, theirs } = inDraft(copy)
    draft.perform({ kind: 'change', changes })
    done()
    autosave.dispute(conflicts, theirs)
  }
  const isOld = copy.revision !== autosave.info().revision
  return (
    <section
      aria-label="Unsaved changes"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 text-sm text-accent-text"
    >
      <History size={16} aria-hidden="true" className="shrink-0" />
      <span className="min-w-60 flex-1">
        You have unsaved changes from {timeOf(copy.keptAt)}.
        {isOld && ' The workflow was changed since then. Restoring merges both.'}
      </span>
      <div className="flex gap-2">
        <Button size="small" look="primary" onClick={restore}>
          Restore
        </Button>
        <Button size="small" onClick={done}>
          Discard
        </Button>
      </div>
    </section>
  )
}

/** `14:02`, with the date unless it is today. */
function timeOf(at: number): string {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  const date = isToday ? {} : ({ day: 'numeric', month: 'short' } as const)
  return time.toLocaleString([], { ...date, hour: '2-digit', minute: '2-digit' })
}
