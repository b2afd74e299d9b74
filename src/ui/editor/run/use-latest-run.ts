import { useCallback, useEffect } from 'react'
import { useEditing } from '../editing.tsx'
import { rememberedRun, rememberRun } from './remembered-runs.ts'

/**
 * Remembers which run was made here last. What is given back shows that run again, as far as the service still knows it:
 * for when the workflow is opened, and all of it is drawn.
 */
export function useLatestRun(): () => void {
  const { run, workflowId } = useEditing()
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
    whenIdle(async () => {
      if (!(await run.resume(latest))) rememberRun(workflowId, undefined)
    })
  }, [run, workflowId])
}

/** Not every browser tells when it is idle. */
function whenIdle(act: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(act, { timeout: 1_000 })
  else setTimeout(act, 200)
}
