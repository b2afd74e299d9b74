import { useEffect } from 'react'
import { useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import type { Together } from './together.ts'

/**
 * Follows others while the editor is open: takes over what they save, and tells them which block is selected here. When
 * the window gets the focus it also looks for changes, because the stream may have been lost without a sign.
 */
export function useLiveDraft(together: Together, autosave: Autosave): void {
  const { draft } = useEditing()
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
    let isPulling = false
    const pull = async () => {
      if (isPulling) return
      isPulling = true
      const { revision } = autosave.info()
      // The next save reports whether the service is reachable.
      await autosave.pull().catch(() => undefined)
      isPulling = false
      if (autosave.info().revision > revision) look()
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
      removeEventListener('focus', onFocus)
      for (const stop of stops) stop()
    }
  }, [together, autosave])
}
