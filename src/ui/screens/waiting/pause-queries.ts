import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'

export type Pause = ResponseOf<'GET /api/workspaces/:id/pauses'>['data'][number]
export type PauseDetail = ResponseOf<'GET /api/workspaces/:id/pauses/:contextId'>
export type PauseField = PauseDetail['fields'][number]
export type OpenRun = ResponseOf<'GET /api/workspaces/:id/runs'>['data'][number]

export const kinds = ['wait', 'approval', 'call'] as const satisfies readonly Pause['kind'][]
export const kindLabels: Readonly<Record<Pause['kind'], string>> = { wait: 'Wait', approval: 'Approval', call: 'Call' }
export const accessTexts: Readonly<Record<NonNullable<Pause['access']>, string>> = {
  link: 'Anyone with the link',
  members: 'Members who may run workflows',
  accounts: 'Named accounts',
}

export type RunDetail = ResponseOf<'GET /api/workspaces/:id/runs/:executionId'>

export const openStatuses = ['queued', 'processing', 'paused'] as const
export type OpenStatus = (typeof openStatuses)[number]
export const statusLabels: Readonly<Record<OpenStatus, string>> = {
  queued: 'Queued',
  processing: 'Running',
  paused: 'Paused',
}

export const runStatusLabels: Readonly<Record<RunDetail['status'], string>> = {
  ...statusLabels,
  ...{ completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' },
}

/** Everything that shows pauses has this key, and is fetched again after an action. */
export const pausesKey = (workspaceId: string) => ['pauses', workspaceId] as const

type PauseFilter = { workflowId: string | undefined; kind: Pause['kind'] | undefined }

/** Oldest first. Refetched while few pages are visible, because others answer, too. */
export function pausesQuery(workspaceId: string, { workflowId, kind }: PauseFilter) {
  return infiniteQueryOptions({
    queryKey: [...pausesKey(workspaceId), 'list', workflowId ?? '', kind ?? ''],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor, signal }) =>
      call('GET /api/workspaces/:id/pauses', {
        params: { id: workspaceId },
        query: { limit: 50, ...(workflowId && { workflowId }), ...(kind && { kind }), ...(cursor && { cursor }) },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 2 ? false : 5_000),
  })
}

export function pauseQuery(workspaceId: string, contextId: string) {
  return queryOptions({
    queryKey: [...pausesKey(workspaceId), 'one', contextId],
    queryFn: ({ signal }) =>
      call('GET /api/workspaces/:id/pauses/:contextId', { params: { id: workspaceId, contextId }, signal }),
    refetchInterval: 5_000,
  })
}

/** Refetched until the run has ended. */
export function runQuery(workspaceId: string, executionId: string) {
  return queryOptions({
    queryKey: [...pausesKey(workspaceId), 'run', executionId],
    queryFn: ({ signal }) =>
      call('GET /api/workspaces/:id/runs/:executionId', { params: { id: workspaceId, executionId }, signal }),
    refetchInterval: ({ state: { data } }) => (data && data.logId !== null ? false : 2_000),
  })
}

/** Newest first. */
export function openRunsQuery(workspaceId: string, status: OpenStatus, workflowId: string | undefined) {
  return infiniteQueryOptions({
    queryKey: [...pausesKey(workspaceId), 'runs', status, workflowId ?? ''],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor, signal }) =>
      call('GET /api/workspaces/:id/runs', {
        params: { id: workspaceId },
        query: { limit: 100, status, ...(workflowId && { workflowId }), ...(cursor && { cursor }) },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 2 ? false : 5_000),
  })
}

type PauseCounts = ResponseOf<'GET /api/workspaces/:id/pauses/counts'>

/** `isComplete`: false when there are more pauses than were counted. */
export type WaitingCount = { count: number; isComplete: boolean }

/** The number of open pauses at each block of a workflow, or in the workspace. */
export function pauseCountsQuery(workspaceId: string, workflowId?: string) {
  return queryOptions({
    queryKey: [...pausesKey(workspaceId), 'counts', workflowId ?? ''],
    queryFn: ({ signal }) =>
      call('GET /api/workspaces/:id/pauses/counts', {
        params: { id: workspaceId },
        query: workflowId === undefined ? {} : { workflowId },
        signal,
      }),
    enabled: workflowId !== '',
    refetchInterval: 15_000,
  })
}

/** The sum of the counts of all kinds, by block. */
export function countsByBlock(counts: PauseCounts | undefined): ReadonlyMap<string, WaitingCount> {
  const byBlock = new Map<string, WaitingCount>()
  for (const { blockId, count } of counts?.data ?? []) {
    if (blockId === null) continue
    byBlock.set(blockId, { count: count + (byBlock.get(blockId)?.count ?? 0), isComplete: counts?.complete ?? true })
  }
  return byBlock
}

/** The number of open approvals, at most 1,000. */
export function approvalsIn({ data }: PauseCounts): number {
  return data.reduce((sum, { kind, count }) => sum + (kind === 'approval' ? count : 0), 0)
}

/** A page of the oldest pauses of a workflow. */
export function oldestPausesQuery(workspaceId: string, workflowId: string) {
  return queryOptions({
    queryKey: [...pausesKey(workspaceId), 'oldest', workflowId],
    queryFn: ({ signal }) =>
      call('GET /api/workspaces/:id/pauses', { params: { id: workspaceId }, query: { limit: 50, workflowId }, signal }),
  })
}
