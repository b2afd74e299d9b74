import { infiniteQueryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'

export type EntryScope = { workspaceId: string; workflowId: string | undefined }
export type Entry = ResponseOf<'GET /api/workspaces/:id/store'>['data'][number]

/** The entries of a workspace, or of one workflow, whose keys begin with a text. */
export function entriesQuery({ workspaceId, workflowId }: EntryScope, prefix: string) {
  return infiniteQueryOptions({
    queryKey: ['store', workspaceId, workflowId, prefix],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      call('GET /api/workspaces/:id/store', {
        params: { id: workspaceId },
        query: { ...scopeQuery(workflowId), limit: 50, ...(prefix && { prefix }), ...(cursor && { cursor }) },
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
}

export function scopeQuery(workflowId: string | undefined) {
  return workflowId === undefined ? {} : { workflowId }
}

/** The address of the file with all entries. */
export function exportAddress({ workspaceId, workflowId }: EntryScope, prefix: string): string {
  const query = new URLSearchParams({ ...scopeQuery(workflowId), ...(prefix && { prefix }) })
  return `/api/workspaces/${workspaceId}/store/export?${query}`
}

/** A value in one line. */
export function lineOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > lineChars ? `${text.slice(0, lineChars)}…` : text
}

const lineChars = 120
