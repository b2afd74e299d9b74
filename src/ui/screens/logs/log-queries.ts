import { type InfiniteData, infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'
import type { Parameters } from './log-filter.ts'

export type LogPage = ResponseOf<'GET /api/editor/logs'>
export type LogEntry = LogPage['data'][number]
type LogResponse = ResponseOf<'GET /api/editor/logs/:id'>
export type LogDetail = LogResponse['data'] & Pick<LogResponse, 'workspaceId'>
export type Histogram = ResponseOf<'GET /api/editor/logs/histogram'>
export type LogPages = InfiniteData<LogPage, string | null>

/** A small first page loads quickly; the following pages are larger. */
const firstPageSize = 100
const pageSize = 500

/** Log entries, newest first, page by page. Pages are never refetched, because entries never change. */
export function logsQuery(parameters: Parameters) {
  return infiniteQueryOptions({
    queryKey: ['logs', parameters],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => loadPage(parameters, pageParam, signal),
    getNextPageParam: ({ nextCursor }: LogPage) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
}

export function loadPage(parameters: Parameters, cursor: string | null, signal?: AbortSignal): Promise<LogPage> {
  return call('GET /api/editor/logs', {
    query: { ...parameters, limit: cursor === null ? firstPageSize : pageSize, cursor },
    ...(signal && { signal }),
  })
}

export function histogramQuery(parameters: Parameters) {
  return queryOptions({
    queryKey: ['log-counts', parameters],
    // The start moves with the clock, so the same query is not repeated.
    gcTime: 30_000,
    queryFn: ({ signal }) => call('GET /api/editor/logs/histogram', { query: parameters, signal }),
    placeholderData: keepPreviousData,
  })
}

export function logQuery(id: string) {
  return queryOptions({
    queryKey: ['log', id],
    queryFn: async ({ signal }): Promise<LogDetail> => {
      const { data, workspaceId } = await call('GET /api/editor/logs/:id', { params: { id }, signal })
      return { ...data, workspaceId }
    },
    // An entry does not change, but the URLs of its files expire.
    staleTime: 10 * 60_000,
    gcTime: 60_000,
  })
}

/** The names of a workspace's workflows, by id. */
export function workflowNamesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['workflow-names', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workflows', { query: { workspaceId }, signal }),
    staleTime: 30_000,
  })
}
