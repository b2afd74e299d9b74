import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { countsByBlock, pauseCountsQuery, type WaitingCount } from '../../screens/waiting/pause-queries.ts'
import { useEditing } from '../editing.tsx'

/** Empty on canvases that do not show the present, such as that of a previous run. */
const Context = createContext<ReadonlyMap<string, WaitingCount>>(new Map())

/** Loads how many runs of the deployed workflow wait at each block, in one request. */
export function WaitingCounts({ children }: { children: ReactNode }) {
  const { workspaceId, workflowId } = useEditing()
  const { data } = useQuery(pauseCountsQuery(workspaceId, workflowId))
  const counts = useMemo(() => countsByBlock(data), [data])
  return <Context value={counts}>{children}</Context>
}

/** Undefined when nothing waits at the block. */
export function useWaitingCount(blockId: string): WaitingCount | undefined {
  return useContext(Context).get(blockId)
}
