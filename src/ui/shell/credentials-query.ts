import { queryOptions } from '@tanstack/react-query'
import { call } from '../api/call.ts'

/** The credentials of a workspace. Their secrets are never loaded. */
export function credentialsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['credentials', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/credentials', { params: { id: workspaceId }, signal }),
  })
}
