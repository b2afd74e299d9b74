import { useMemo } from 'react'
import { type Toast, useToast } from '../../parts/toast.tsx'
import { useEditing } from '../editing.tsx'
import type { Autosave } from '../save/autosave.ts'
import type { RunRequest } from './run-watch.ts'
import { type StartError, startErrorOf } from './start-error.ts'

export type Runs = ReturnType<typeof useRuns>

/** Ways to run the draft, which is saved first. `onGo` goes to a block that prevents a run. */
export function useRuns(autosave: Autosave, onGo: (blockId: string) => void) {
  const { run, draft, readOnly } = useEditing()
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
        toast.show(startErrorToast(startErrorOf(error, draft.state().document), onGo))
      }
    }
    /** Returns why the run could not start. Later errors are shown like those of every run. */
    const tryWith = async (request: RunRequest): Promise<StartError | undefined> => {
      const startError = (error: unknown) => startErrorOf(error, draft.state().document)
      if (run.isRunning) return plain('Another run is in progress. Stop it or wait for it to end.')
      const { promise, resolve } = Promise.withResolvers<StartError | undefined>()
      try {
        if (!(await autosave.flush())) {
          const { save } = autosave.info()
          return plain('message' in save ? save.message : 'The workflow could not be saved.')
        }
        let started = false
        run
          .start(request, () => {
            started = true
            resolve(undefined)
          })
          .catch((error: unknown) => (started ? toast.fail(error) : resolve(startError(error))))
        return await promise
      } catch (error) {
        return startError(error)
      }
    }
    const earlier = () => run.state().wholeId
    return {
      runAll: (input?: unknown) => start(input === undefined ? {} : { input }),
      runWith: tryWith,
      runUntil: (blockId: string) => start({ until: blockId }),
      runOnly: (blockId: string) => {
        const executionId = earlier()
        return start({ only: { blockId, ...(executionId ? { executionId } : {}) } })
      },
      /** Takes the outputs of earlier blocks from the previous full run. */
      runFrom: (blockId: string) => {
        const executionId = earlier()
        return executionId ? start({ from: { executionId, blockId } }) : start({ until: blockId })
      },
      cancel: () => run.cancel().catch(toast.fail),
      clear: () => run.clear(),
    }
  }, [run, draft, autosave, toast, readOnly, onGo])
}

function plain(text: string): StartError {
  return { text, problems: [], more: 0 }
}

/** One problem gets a button that goes to its block; several become a list of links. */
function startErrorToast({ text, problems, more }: StartError, onGo: (blockId: string) => void): Toast {
  const [first] = problems
  if (!first) return { text, tone: 'error' }
  const { blockId } = first
  if (problems.length === 1 && blockId !== undefined) {
    const action = { label: 'Go to block', run: () => onGo(blockId) }
    return { text: `${text} ${first.text}`, tone: 'error', action }
  }
  return { text, tone: 'error', problems: { list: leading(problems, onGo), more } }
}

/** Problems with callbacks that go to their blocks. */
export function leading(problems: StartError['problems'], onGo: (blockId: string) => void) {
  return problems.map(({ text, blockId }) => ({ text, go: blockId === undefined ? undefined : () => onGo(blockId) }))
}
