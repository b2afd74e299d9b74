import { useMemo } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { messageOf } from '../../api/message-of.ts'
import { useToast } from '../../parts/toast.tsx'
import type { Autosave } from '../autosave.ts'
import type { Document } from '../document.ts'
import { useEditing } from '../editing.tsx'
import type { RunRequest } from './run-watch.ts'

export type Runs = ReturnType<typeof useRuns>

/** Ways to run the draft; it is saved first. `onGo` leads to the block for which a run was refused. */
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
        const blockId = blockIn(error, draft.state().document)
        const action = blockId === undefined ? {} : { action: { label: 'Go to block', run: () => onGo(blockId) } }
        toast.show({ text: messageOf(error), tone: 'error', ...action })
      }
    }
    /** Gives back why the run could not start; what goes wrong later is told like with every run. */
    const tryWith = async (request: RunRequest): Promise<string | undefined> => {
      if (run.isRunning) return 'A run is under way. Stop it, or wait for it.'
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      try {
        if (!(await autosave.flush())) {
          const { save } = autosave.info()
          return 'message' in save ? save.message : 'The workflow could not be saved.'
        }
        let started = false
        run
          .start(request, () => {
            started = true
            resolve(undefined)
          })
          .catch((error: unknown) => (started ? toast.fail(error) : resolve(messageOf(error))))
        return await promise
      } catch (error) {
        return messageOf(error)
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
      /** Needs a run before it: what came before the block is taken from that. */
      runFrom: (blockId: string) => {
        const executionId = earlier()
        return executionId ? start({ from: { executionId, blockId } }) : start({ until: blockId })
      },
      cancel: () => run.cancel().catch(toast.fail),
      clear: () => run.clear(),
    }
  }, [run, draft, autosave, toast, readOnly, onGo])
}

/** The first block that the details of a refusal name: `blocks.<id>.params.url`. */
function blockIn(error: unknown, { blocks }: Pick<Document, 'blocks'>): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const paths = error.details.map(({ path }) => `${path}.`)
  const ids = paths.flatMap((path) => Object.keys(blocks).filter((id) => path.startsWith(`blocks.${id}.`)))
  return ids[0]
}
