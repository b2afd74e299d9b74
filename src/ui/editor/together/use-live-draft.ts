import { useEffect } from 'react'
import { useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import { checkDraft } from '../variable-creator.tsx'
import type { Together } from './together.ts'

/**
 * Follows others while the editor is open: takes over what they save, and tells them which block is selected here. When
 * the window gets the focus it also looks for changes, because the stream may have been lost without a sign.
 */
export function useLiveDraft(together: Together, autosave: Autosave): void {
  const { draft, workflowId } = useEditing()
  useEffect(() => together.start(), [together])
  useEffect(() => {
    const tellPlace = () => {
      const { selected } = draft.state()
      const [only] = selected
      together.place(selected.size === 1 && only !== undefined ? only : null)
    }
    tellPlace()
    return draft.watch(tellPlace)
  }, [draft, together])
  useEffect(() => {
    let hasLeft = false
    const pull = async () => {
      try {
        if ((await autosave.pull()) && !hasLeft) await checkDraft(autosave, workflowId, draft.state)
      } catch {
        // The next save reports whether the service is reachable.
      }
    }
    /** A save of this editor may be reported before its response arrives: both lead to the same revision. */
    const look = () => {
      const revision = together.state().draft?.revision ?? 0
      const { save, revision: own } = autosave.info()
      if (revision > own && (save.phase === 'saved' || save.phase === 'failed')) void pull()
    }
    const stops = [together.watch(look), autosave.watch(look)]
    const onFocus = () => void pull()
    addEventListener('focus', onFocus)
    return () => {
      hasLeft = true
      removeEventListener('focus', onFocus)
      for (const stop of stops) stop()
    }
  }, [together, autosave, draft, workflowId])
}
