import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Parameters } from './log-filter.ts'
import { type LogEntry, type LogPages, loadPage, logsQuery } from './log-queries.ts'

export type LogRows = {
  rows: readonly LogEntry[]
  isPending: boolean
  error: unknown
  /** Whether older entries exist. `loadMore` loads them, unless a load is in progress. */
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  retry: () => void
  /** The error of the live updates, if they currently fail. */
  liveError: unknown
}

/** The entries of a query loaded so far. With `isLive`, new entries are added as they are recorded. */
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
 * Polls for new entries and adds them in front. Ids sort in recording order, so larger ids are newer. After more new
 * entries than a few pages hold, it starts over with the newest page.
 */
function useLiveTail(parameters: Parameters, isOn: boolean): unknown {
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: parameters are compared by value
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

/** Drops the oldest pages after many new entries. Scrolling there loads them again. */
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
/** Maximum number of entries kept during live updates. */
const keptMax = 20_000
