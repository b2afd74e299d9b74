import { queryOptions } from '@tanstack/react-query'
import { call } from '../api/call.ts'

/** The names of the environment variables of a workspace. Their values are never loaded. */
export function environmentQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['environment', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/environment', { params: { id: workspaceId }, signal }),
  })
}
