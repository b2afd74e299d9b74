import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Toast, useToast } from '../../parts/toast.tsx'
import { useEditing } from '../editing.tsx'
import { pinsQuery } from '../editor-queries.ts'
import type { Autosave } from '../save/autosave.ts'
import { type MissingValue, missingValues } from './missing-values.ts'
import type { RunRequest } from './run-watch.ts'
import { type StartError, startErrorOf } from './start-error.ts'
import { needsInput, startTriggers, usualTrigger } from './start-trigger.ts'
import { listenedToken, takenOf } from './test-request.ts'

export type Runs = ReturnType<typeof useRuns>

/** The input that a run lacks: a request, a message, or values of references. */
export type Lacking =
  | { kind: 'request' | 'message'; request: RunRequest }
  | { kind: 'values'; blockId: string; values: readonly MissingValue[] }

/**
 * Ways to run the draft, which is saved first. `onGo` goes to a block that prevents a run. `onLacking` receives the
 * input that has to be given before a run can start.
 */
export function useRuns(autosave: Autosave, onGo: (blockId: string) => void, onLacking: (lacking: Lacking) => void) {
  const queries = useQueryClient()
  const { run, draft, focus, held, readOnly, workflowId, types } = useEditing()
  const toast = useToast()
  return useMemo(() => {
    const start = async (request: RunRequest, onRefused?: (error: unknown) => boolean) => {
      if (readOnly || run.isRunning) return
      held.showAll()
      toast.dismiss(refusal)
      try {
        if (!(await autosave.flush())) {
          const { save } = autosave.info()
          const text = 'message' in save ? save.message : 'The workflow could not be saved.'
          toast.show({ text, tone: 'error', key: refusal })
          return
        }
        await run.start(request, draft.state().document)
      } catch (error) {
        if (onRefused?.(error)) return
        toast.show({ ...startErrorToast(startErrorOf(error, draft.state().document), onGo), key: refusal })
      }
    }
    /** The latest run of the log, which the fields show until there is a run in the editor. */
    const latestLogged = () => queries.getQueryData<string | null>(['latest-run', workflowId]) ?? undefined
    const aloneRequest = (blockId: string) => {
      const executionId = listened() === undefined ? (earlier() ?? latestLogged()) : undefined
      const { pass } = focus.state()
      const entry = pass && run.state().entries.find(({ spanId }) => spanId === pass.spanId)
      const isOwn = entry?.blockId === blockId && pass?.executionId === run.state().executionId
      const iterations = isOwn && entry.iterations.length > 0 ? { iterations: [...entry.iterations] } : {}
      return { blockId, ...(executionId ? { executionId } : {}), ...iterations }
    }
    /**
     * Starts a run without input. When it needs one: with the chosen test request, or the pinned output of the trigger;
     * otherwise it has to be given first.
     */
    const startBare = async (request: RunRequest) => {
      const { document } = draft.state()
      const trigger = usualTrigger(startTriggers(document, types))
      if (readOnly || run.isRunning || !trigger || !needsInput(document, trigger)) return await start(request)
      const token = listened()
      if (token !== undefined) return await start({ ...request, listened: token })
      const pins = await queries.ensureQueryData(pinsQuery(workflowId)).catch(() => undefined)
      if (pins?.data.some(({ blockId }) => blockId === trigger.id)) return await start(request)
      onLacking({ kind: trigger.starts === 'chat' ? 'message' : 'request', request })
    }
    /** Returns why the run could not start. Later errors are shown like those of every run. */
    const tryWith = async (request: RunRequest): Promise<StartError | undefined> => {
      const startError = (error: unknown) => startErrorOf(error, draft.state().document)
      if (run.isRunning) return plain('Another run is in progress. Stop it or wait for it to end.')
      held.showAll()
      const { promise, resolve } = Promise.withResolvers<StartError | undefined>()
      try {
        if (!(await autosave.flush())) {
          const { save } = autosave.info()
          return plain('message' in save ? save.message : 'The workflow could not be saved.')
        }
        let started = false
        run
          .start(request, draft.state().document, () => {
            started = true
            resolve(undefined)
          })
          .catch((error: unknown) => (started ? toast.fail(error) : resolve(startError(error))))
        return await promise
      } catch (error) {
        return startError(error)
      }
    }
    /** The run that the values come from: the chosen one, or the latest one of more than a single block. */
    const earlier = () => {
      const { source } = focus.state()
      return (listenedToken(source) === undefined ? source : undefined) ?? run.state().wholeId
    }
    /** The token of the test address, if its request was chosen as the source of the values. */
    const listened = () => {
      const token = listenedToken(focus.state().source)
      return token !== undefined && token === takenOf(queries, workflowId)?.token ? token : undefined
    }
    const withListened = (request: RunRequest): RunRequest => {
      const token = listened()
      return token === undefined ? request : { ...request, listened: token }
    }
    return {
      runAll: () => startBare({}),
      runWith: tryWith,
      /** Runs the draft, or the part of it that `request` names, with the test request of a listener. */
      runListened: (token: string, request: RunRequest = {}) => start({ ...request, listened: token }),
      /** Runs the draft with an item of a poll. */
      runItem: (trigger: 'poll' | 'rss', item: unknown) => start({ trigger, input: { item } }),
      save: () => autosave.flush(),
      runUntil: (blockId: string) => startBare({ until: blockId }),
      runOnly: (blockId: string) =>
        start(withListened({ only: aloneRequest(blockId) }), (error) => {
          const values = missingValues(error)
          if (values.length > 0) onLacking({ kind: 'values', blockId, values })
          return values.length > 0
        }),
      /** Runs a block alone with these values. Returns why the run could not start. */
      runOnlyWith: (blockId: string, values: Record<string, unknown>) =>
        tryWith(withListened({ only: { ...aloneRequest(blockId), values } })),
      /** Takes the outputs of earlier blocks from the previous full run. */
      runFrom: (blockId: string) => {
        if (listened()) return start(withListened({ until: blockId }))
        const executionId = earlier()
        return executionId ? start({ from: { executionId, blockId } }) : startBare({ until: blockId })
      },
      cancel: () => run.cancel().catch(toast.fail),
      clear: () => run.clear(),
    }
  }, [run, draft, held, focus, autosave, toast, readOnly, onGo, onLacking, queries, workflowId, types])
}

/** The key of the toast about a run that could not start. */
const refusal = 'run refused'

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
