import { useCallback, useEffect, useRef } from 'react'
import { useEditing } from '../editing.tsx'
import { rememberedRun, rememberRun } from './remembered-runs.ts'
import { namedRun } from './run-address.ts'

/**
 * Remembers the latest run. The returned function restores that run, or the one that the address names, if the service
 * still knows it; call it once the opened workflow is fully drawn. `onOpened` is called when it shows the named run.
 */
export function useLatestRun(onOpened: () => void): () => void {
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
    const named = namedRun(location.search)
    if (named !== undefined && !run.isRunning) {
      waiting.current = whenIdle(async () => {
        run.clear()
        if (await run.resume({ executionId: named, wholeId: named })) onOpened()
      })
      return
    }
    const latest = rememberedRun(workflowId)
    if (!latest) return
    waiting.current = whenIdle(async () => {
      if (!(await run.resume(latest))) rememberRun(workflowId, undefined)
    })
  }, [run, workflowId, onOpened])
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
