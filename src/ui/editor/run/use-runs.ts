import { useMemo } from 'react'
import { useToast } from '../../parts/toast.tsx'
import type { Autosave } from '../autosave.ts'
import { useEditing } from '../editing.tsx'
import type { RunRequest } from './run-watch.ts'

export type Runs = ReturnType<typeof useRuns>

/** Ways to run the draft; it is saved first. */
export function useRuns(autosave: Autosave) {
  const { run, readOnly } = useEditing()
  const toast = useToast()
  return useMemo(() => {
    const start = async (request: RunRequest) => {
      if (readOnly || run.isRunning) return
      try {
        if (!(await autosave.flush())) {
          const { save } = autosave.info()
          toast.show({ text: 'message' in save ? save.message : 'The workflow could not be saved.', tone: 'error' })
          return
        }
        await run.start(request)
      } catch (error) {
        toast.fail(error)
      }
    }
    const earlier = () => run.state().executionId
    return {
      runAll: (input?: unknown) => start(input === undefined ? {} : { input }),
      runUntil: (blockId: string) => start({ until: blockId }),
      runOnly: (blockId: string) => {
        const executionId = earlier()
        return start({ only: { blockId, ...(executionId ? { executionId } : {}) } })
      },
      /** Needs a run before it: what came before the block is taken from that. */
      runFrom: (blockId: string) => {
        const executionId = earlier()
        return executionId ? start({ from: { executionId, blockId } }) : start({ until: blockId })
      },
      cancel: () => run.cancel().catch(toast.fail),
      clear: () => run.clear(),
    }
  }, [run, autosave, toast, readOnly])
}
