import { useCallback, useEffect, useRef } from 'react'
import { useEditing } from '../editing.tsx'
import { rememberedRun, rememberRun } from './remembered-runs.ts'

/**
 * Remembers the latest run. The returned function restores that run, if the service still knows it; call it once the
 * opened workflow is fully drawn.
 */
export function useLatestRun(): () => void {
  const { run, workflowId } = useEditing()
  const waiting = useRef<() => void>(undefined)
  useEffect(() => () => waiting.current?.(), [])
  useEffect(() => {
    let known = run.state().executionId
    return run.watch(() => {
      const { executionId, wholeId } = run.state()
      if (executionId === known) return
      known = executionId
      rememberRun(workflowId, executionId === undefined ? undefined : { executionId, wholeId })
    })
  }, [run, workflowId])
  return useCallback(() => {
    const latest = rememberedRun(workflowId)
    if (!latest) return
    waiting.current = whenIdle(async () => {
      if (!(await run.resume(latest))) rememberRun(workflowId, undefined)
    })
  }, [run, workflowId])
}

/** Not every browser has `requestIdleCallback`. Returns a function that cancels the wait. */
function whenIdle(act: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const waiting = requestIdleCallback(act, { timeout: 1_000 })
    return () => cancelIdleCallback(waiting)
  }
  const waiting = setTimeout(act, 200)
  return () => clearTimeout(waiting)
}
