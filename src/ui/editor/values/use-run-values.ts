import { useQuery } from '@tanstack/react-query'
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { environmentQuery } from '../../shell/environment-query.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { outlineOf, useOperationOutputs } from '../results/operation-outputs.ts'
import { passesOf, passOf, runOf } from '../run/passes.ts'
import { pastRun } from '../run/past-run.ts'
import { entriesOf, type RunEntry, type RunState } from '../run/run-state.ts'
import { listenedRun, listenedToken, useTaken } from '../run/test-request.ts'
import { isIncomplete, lookUp, noValues, type RunValues, runValues } from './run-values.ts'

/** The run data beside the fields of one block. */
export type RunData = {
  run: RunState | undefined
  /** The run that has the shown pass. */
  executionId: string | undefined
  /** The shown pass of the block; undefined when the block did not run. */
  pass: RunEntry | undefined
  passes: readonly RunEntry[]
  values: RunValues
  /** The value of a reference; `isHidden`: it is incomplete. Undefined for plain text. */
  lookup: (reference: Parameters<typeof lookUp>[0]) => { value: unknown; isHidden: boolean } | undefined
}

const none: RunData = {
  run: undefined,
  executionId: undefined,
  pass: undefined,
  passes: [],
  values: noValues,
  lookup: () => undefined,
}

/** The run data of the inspected block. */
export const ShownRunData = createContext<RunData>(none)

export function useRunData(): RunData {
  return useContext(ShownRunData)
}

/** The run whose values are shown: the chosen one, or else the latest one of the editor, or else of the log. */
export function useShownRun(): RunState | undefined {
  const { run: watched, focus, workspaceId, workflowId } = useEditing()
  const state = useSyncExternalStore(watched.watch, watched.state)
  const { source } = useSyncExternalStore(focus.watch, focus.state)
  const document = useDraft((draft) => draft.document)
  const taken = useTaken(workflowId)
  // A request that the service has dropped counts as no choice.
  const run = listenedToken(source) === undefined ? source : undefined
  const isTaken = taken !== undefined && listenedToken(source) === taken.token
  const hasRun = state.entries.length > 0
  const { data: logged } = useQuery({
    queryKey: ['latest-run', workflowId],
    enabled: run === undefined && !hasRun,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { workspaceId, workflowIds: workflowId, level: 'info', limit: 1 } as const
      const [entry] = (await call('GET /api/editor/logs', { query, signal })).data
      return entry?.executionId ?? null
    },
  })
  const past = run ?? (hasRun ? undefined : (logged ?? undefined))
  const { data } = useQuery({
    queryKey: ['past-run', past],
    enabled: past !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await pastRun(past!, signal)) ?? null,
  })
  const listened = useMemo(() => (isTaken ? listenedRun(taken, document) : undefined), [isTaken, taken, document])
  if (isTaken) return listened
  return past === undefined ? (hasRun ? state : undefined) : (data ?? undefined)
}

/** The names of the workspace's environment variables. */
export function useEnvironmentNames(): readonly string[] {
  const { workspaceId } = useEditing()
  const { data } = useQuery(environmentQuery(workspaceId))
  return useMemo(() => data?.data.map(({ name }) => name) ?? [], [data])
}

export function useBlockRunData(blockId: string): RunData {
  const { focus, types } = useEditing()
  const run = useShownRun()
  const document = useDraft((state) => state.document)
  const { pass: chosen } = useSyncExternalStore(focus.watch, focus.state)
  const names = useEnvironmentNames()
  const results = useOperationOutputs()
  const expected = useMemo(
    () => new Map([...results].map(([id, schema]) => [id, { data: outlineOf(schema) }])),
    [results],
  )
  return useMemo(() => {
    const startsOf = (type: string) => types.get(type)?.starts ?? null
    const shown = run ?? { entries: [], before: undefined, executionId: undefined }
    const entries = entriesOf(shown, blockId)
    const pass = passOf(shown, blockId, chosen)
    const found = runValues(document, blockId, shown, pass?.iterations ?? chosen?.iterations ?? [], startsOf)
    const values = { ...found, expected }
    return {
      run,
      executionId: runOf(shown, entries),
      pass,
      passes: passesOf(entries, blockId),
      values,
      lookup: (reference) => {
        const found = lookUp(reference, { document, blockId, values, startsOf })
        return found && { ...found, isHidden: isIncomplete(found.value, names) }
      },
    }
  }, [run, document, blockId, chosen, types, names, expected])
}
