import { useQuery } from '@tanstack/react-query'
import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { type Suggestion, suggestionsFor } from './suggestions.ts'

/** What can be put into the texts of the block that is inspected. */
export const Suggestions = createContext<readonly Suggestion[]>([])

export function useSuggestions(): readonly Suggestion[] {
  return useContext(Suggestions)
}

/** Everything that a block can refer to: upstream outputs, variables, names of the environment. */
export function useBlockSuggestions(blockId: string): readonly Suggestion[] {
  const { types, run, workspaceId } = useEditing()
  const document = useDraft((state) => state.document)
  const entries = useSyncExternalStore(run.watch, () => run.state().entries)
  const { data } = useQuery({
    queryKey: ['environment', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/environment', { params: { id: workspaceId }, signal }),
  })
  return useMemo(() => {
    const samples = new Map(
      entries.flatMap(({ blockId: id, span }) => (span?.status === 'success' ? [[id, span.output] as const] : [])),
    )
    const names = data?.data.map(({ name }) => ({ text: `{{${name}}}`, from: 'Environment' })) ?? []
    return [...suggestionsFor(document, blockId, (type) => types.get(type), samples), ...names]
  }, [document, blockId, types, entries, data])
}
