import { useCallback, useEffect } from 'react'
import { useEditing } from '../editing.tsx'
import { failedPass } from './passes.ts'

/**
 * Selects the failed block and the failed pass when a run fails, in place of an older choice. A run that was restored
 * on opening the workflow selects nothing by itself: for that, call the returned function.
 */
export function useFailureFocus(goTo: (blockId: string) => void): () => void {
  const { run, focus, draft } = useEditing()
  const focusFailure = useCallback(() => {
    const state = run.state()
    if (state.phase !== 'error' || state.executionId === undefined) return
    const entry = failedPass(state)
    if (!entry || !draft.state().document.blocks[entry.blockId]) return
    const { spanId, iterations, blockId } = entry
    focus.chooseSource(undefined)
    focus.choosePass({ executionId: state.executionId, spanId, iterations })
    goTo(blockId)
  }, [run, focus, draft, goTo])
  useEffect(() => {
    let wasRunning = run.isRunning
    return run.watch(() => {
      const state = run.state()
      const hasFailed = wasRunning && state.phase === 'error'
      wasRunning = run.isRunning
      if (hasFailed && !state.isPast) focusFailure()
    })
  }, [run, focusFailure])
  return focusFailure
}
