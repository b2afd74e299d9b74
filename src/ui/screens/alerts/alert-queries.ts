import { queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'

export type Alert = ResponseOf<'GET /api/workspaces/:id/alerts'>['data'][number]
export type AlertTest = ResponseOf<'POST /api/workspaces/:id/alerts/:alertId/test'>

/** Refetched while visible, because alerts fire in the background. */
export function alertsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['alerts', workspaceId],
    queryFn: async ({ signal }) =>
      (await call('GET /api/workspaces/:id/alerts', { params: { id: workspaceId }, signal })).data,
    refetchInterval: 5_000,
  })
}
