import { queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'

export type WorkflowOverview = ResponseOf<'GET /api/editor/workflows'>['data'][number]

/** The workflows of a workspace with their state, refreshed every 15 seconds. */
export function workflowsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['workflows', workspaceId],
    queryFn: async ({ signal }) => (await call('GET /api/editor/workflows', { query: { workspaceId }, signal })).data,
    refetchInterval: 15_000,
  })
}
