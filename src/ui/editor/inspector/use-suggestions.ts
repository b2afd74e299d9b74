import { useQuery } from '@tanstack/react-query'
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { type Suggestion, suggestionsFor } from './suggestions.ts'

/** The suggestions for text fields of the inspected block. */
export const Suggestions = createContext<readonly Suggestion[]>([])

export function useSuggestions(): readonly Suggestion[] {
  return useContext(Suggestions)
}

/** Everything a block can refer to: upstream outputs, variables and environment variables. */
export function useBlockSuggestions(blockId: string): readonly Suggestion[] {
  const { types, run, workspaceId, workflowId } = useEditing()
  const document = useDraft((state) => state.document)
  const entries = useSyncExternalStore(run.watch, () => run.state().entries)
  const { data } = useQuery({
    queryKey: ['environment', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/environment', { params: { id: workspaceId }, signal }),
  })
  const hasRun = entries.length > 0
  // Until the first run in this editor, use the latest run from the log.
  const { data: logged } = useQuery({
    queryKey: ['latest-outputs', workflowId],
    enabled: !hasRun,
    staleTime: 60_000,
    queryFn: ({ signal }) => latestOutputs(workspaceId, workflowId, signal),
  })
  return useMemo(() => {
    // Blocks of called workflows may have the same ids, so only depth 0 counts.
    const ran = entries.flatMap(({ blockId: id, depth, span }) =>
      depth === 0 && span?.status === 'success' ? [[id, span.output] as const] : [],
    )
    const samples = hasRun || !logged ? new Map(ran) : logged
    const names = data?.data.map(({ name }) => ({ text: `{{${name}}}`, from: 'Environment' })) ?? []
    return [...suggestionsFor(document, blockId, (type) => types.get(type), samples), ...names]
  }, [document, blockId, types, entries, hasRun, logged, data])
}

type TraceSpan = { blockId?: string | null; status?: string; output?: unknown; children?: readonly TraceSpan[] }

/** The outputs of each block in the latest successful run of the log. */
async function latestOutputs(
  workspaceId: string,
  workflowId: string,
  signal: AbortSignal,
): Promise<Map<string, unknown>> {
  const query = { workspaceId, workflowIds: workflowId, level: 'info', limit: 1 } as const
  const [entry] = (await call('GET /api/editor/logs', { query, signal })).data
  if (!entry) return new Map()
  const { data } = await call('GET /api/editor/logs/:id', { params: { id: entry.id }, signal })
  const outputs = new Map<string, unknown>()
  const gather = (spans: readonly TraceSpan[]) => {
    for (const { blockId, status, output, children } of spans) {
      if (blockId && status === 'success') outputs.set(blockId, output)
      if (children) gather(children)
    }
  }
  gather((data.executionData.traceSpans ?? []) as readonly TraceSpan[])
  return outputs
}
