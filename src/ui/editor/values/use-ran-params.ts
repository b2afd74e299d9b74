import { useQuery } from '@tanstack/react-query'
import { useEditing } from '../editing.tsx'
import { executionQuery } from '../editor-queries.ts'

type Params = Readonly<Record<string, unknown>>

/**
 * The parameters with which a block ran: undefined while they are loading, and null when the version that ran is not
 * known. `executionId`: undefined when they are not needed.
 */
export function useRanParams(executionId: string | undefined, blockId: string): Params | null | undefined {
  const { run } = useEditing()
  const here = executionId === undefined ? undefined : run.documentOf(executionId)
  const { data, isError } = useQuery({
    ...executionQuery(executionId ?? ''),
    enabled: executionId !== undefined && here === undefined,
    // A draft is kept only for a while.
    retry: false,
  })
  if (here) return here.blocks[blockId]?.params ?? null
  if (data) return (data.workflowState.blocks[blockId] as { params?: Params } | undefined)?.params ?? null
  return isError ? null : undefined
}
