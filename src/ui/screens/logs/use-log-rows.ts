import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { type LogEntry, type LogPages, loadPage, logsQuery, type Parameters } from './log-queries.ts'

export type LogRows = {
  rows: readonly LogEntry[]
  isPending: boolean
  error: unknown
  /** Whether there may be older ones; `loadMore` gets them, unless it does so already. */
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  retry: () => void
  /** Why new entries do not come in, while they should. */
  liveError: unknown
}

/** The entries that a query finds, as far as they were looked at, and while `isLive` those that are recorded meanwhile. */
export function useLogRows(parameters: Parameters, isLive: boolean): LogRows {
  const options = logsQuery(parameters)
  const found = useInfiniteQuery({ ...options, refetchOnWindowFocus: false, refetchOnReconnect: false })
  const rows = useMemo(() => found.data?.pages.flatMap(({ data }) => data) ?? [], [found.data])
  const liveError = useLiveTail(parameters, isLive && found.isSuccess)
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } = found
  return {
    rows,
    isPending: found.isPending,
    error: found.error,
    hasMore: hasNextPage && !isFetchNextPageError,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => {
      if (!isFetchingNextPage) void fetchNextPage()
    },
    retry: () => void (isFetchNextPageError ? fetchNextPage() : refetch()),
    liveError,
  }
}

/**
 * Asks for new entries every so often, and puts them in front. Ids sort as entries were recorded, so what is newer than
 * the newest one here is new. When more have come than a few pages hold, it starts over with the newest.
 */
function useLiveTail(parameters: Parameters, isOn: boolean): unknown {
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: parameters are told apart by what they say
  useEffect(() => {
    if (!isOn) return
    const aborter = new AbortController()
    const { queryKey } = logsQuery(parameters)
    let timer: ReturnType<typeof setTimeout> | undefined
    const poll = async () => {
      try {
        if (!document.hidden) {
          const pages = queries.getQueryData<LogPages>(queryKey)
          const next = pages && (await withNewer(parameters, pages, aborter.signal))
          if (next && !aborter.signal.aborted) queries.setQueryData(queryKey, next)
        }
        setError(undefined)
      } catch (cause) {
        if (!aborter.signal.aborted) setError(cause)
      }
      if (!aborter.signal.aborted) timer = setTimeout(() => void poll(), pollMs)
    }
    timer = setTimeout(() => void poll(), pollMs)
    return () => {
      aborter.abort()
      clearTimeout(timer)
    }
  }, [isOn, queries, JSON.stringify(parameters)])
  return isOn ? error : undefined
}

async function withNewer(parameters: Parameters, pages: LogPages, signal: AbortSignal): Promise<LogPages | undefined> {
  const newest = pages.pages.find(({ data }) => data.length > 0)?.data[0]?.id ?? ''
  const fresh: LogEntry[] = []
  let cursor: string | null = null
  for (let count = 0; count < freshPagesMax; count += 1) {
    const page = await loadPage(parameters, cursor, signal)
    const newer = page.data.filter(({ id }) => id > newest)
    fresh.push(...newer)
    const [first, ...others] = pages.pages
    if (newer.length < page.data.length || page.nextCursor === null) {
      if (fresh.length === 0 || !first) return undefined
      if (first.data.length > keptMax) break
      return trimmed({ ...pages, pages: [{ ...first, data: [...fresh, ...first.data] }, ...others] })
    }
    if (newest === '') break
    cursor = page.nextCursor
  }
  return { pages: [await loadPage(parameters, null, signal)], pageParams: [null] }
}

/** The oldest pages go when many new entries have come in; who scrolls there loads them again. */
function trimmed({ pages, pageParams }: LogPages): LogPages {
  let kept = 0
  const over = pages.findIndex(({ data }) => {
    kept += data.length
    return kept > keptMax
  })
  return over < 1 ? { pages, pageParams } : { pages: pages.slice(0, over), pageParams: pageParams.slice(0, over) }
}

const pollMs = 2_000
const freshPagesMax = 5
/** Entries kept while new ones come in. */
const keptMax = 20_000
