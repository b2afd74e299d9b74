import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, type ResponseOf } from '../../api/call.ts'
import { searchCharsMax } from '../../screens/logs/log-filter.ts'

export type FoundRun = ResponseOf<'GET /api/editor/logs'>['data'][number]

/** The latest runs whose id, error, workflow or labels contain a text. The service is asked when typing pauses. */
export function useFoundRuns(
  workspaceId: string,
  typed: string,
): { runs: readonly FoundRun[]; isSearching: boolean; failed: boolean } {
  const wanted = typed.trim().slice(0, searchCharsMax)
  const [search, setSearch] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearch(wanted), delayMs)
    return () => clearTimeout(timer)
  }, [wanted])
  const isWanted = wanted.length >= searchCharsMin
  const { data, isFetching, isError } = useQuery({
    queryKey: ['palette-runs', workspaceId, search],
    queryFn: async ({ signal }) =>
      (await call('GET /api/editor/logs', { query: { workspaceId, search, limit: 5 }, signal })).data,
    enabled: isWanted && search === wanted,
    staleTime: 5_000,
    gcTime: 30_000,
    retry: false,
  })
  if (!isWanted) return { runs: [], isSearching: false, failed: false }
  const isCurrent = search === wanted
  return { runs: isCurrent ? (data ?? []) : [], isSearching: !isCurrent || isFetching, failed: isCurrent && isError }
}

const delayMs = 250
const searchCharsMin = 3
