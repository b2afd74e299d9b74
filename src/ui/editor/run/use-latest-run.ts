import { useCallback, useEffect, useRef } from 'react'
import { useEditing } from '../editing.tsx'
import { rememberedRun, rememberRun } from './remembered-runs.ts'

/**
 * Remembers which run was made here last. What is given back shows that run again, as far as the service still knows it:
 * for when the workflow is opened, and all of it is drawn.
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

/** Not every browser tells when it is idle. Answers how to leave it. */
function whenIdle(act: () => void): () => void {
  if ('requestIdleCallback' in globalThis) {
    const waiting = requestIdleCallback(act, { timeout: 1_000 })
    return () => cancelIdleCallback(waiting)
  }
  const waiting = setTimeout(act, 200)
  return () => clearTimeout(waiting)
}
