import { createContext, useContext, useMemo } from 'react'
import { useDraft, useEditing } from '../editing.tsx'
import type { RunValues } from '../values/run-values.ts'
import { useEnvironmentNames } from '../values/use-run-values.ts'
import { type Suggestion, suggestionsFor } from './suggestions.ts'

/** The suggestions for text fields of the inspected block. */
export const Suggestions = createContext<readonly Suggestion[]>([])

export function useSuggestions(): readonly Suggestion[] {
  return useContext(Suggestions)
}

/** Everything a block can refer to: upstream outputs, variables and environment variables. */
export function useBlockSuggestions(blockId: string, values: RunValues): readonly Suggestion[] {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const environment = useEnvironmentNames()
  return useMemo(() => {
    const names = environment.map((name) => ({ text: `{{${name}}}`, from: 'Environment' }))
    return [...suggestionsFor(document, blockId, (type) => types.get(type), values), ...names]
  }, [document, blockId, types, values, environment])
}
