import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { SavedWorkflow, WorkflowResponse } from '../../http/responses/workflow-schemas.ts'
import { call } from '../api/call.ts'

/** The block types. They change only with the version of the service. */
export const blockTypesQuery = queryOptions({
  queryKey: ['block-types'],
  queryFn: ({ signal }) => call('GET /api/editor/blocks', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The pinned outputs of a workflow. */
export function pinsQuery(workflowId: string) {
  return queryOptions({
    queryKey: ['pins', workflowId],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/pins', { params: { id: workflowId }, signal }),
  })
}

/** The version that ran. */
export function executionQuery(executionId: string) {
  return queryOptions({
    queryKey: ['execution', executionId],
    queryFn: ({ signal }) => call('GET /api/editor/logs/executions/:executionId', { params: { executionId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The workflow that an editor starts with. */
export function workflowQuery(id: string) {
  return queryOptions({
    queryKey: ['workflow', id],
    queryFn: async ({ client, signal }) => {
      const prefetched = prefetchedWorkflow(id)
      signal.addEventListener('abort', () => void client.cancelQueries({ queryKey: prefetched.queryKey, exact: true }))
      const found = await client.fetchQuery(prefetched)
      client.removeQueries({ queryKey: prefetched.queryKey, exact: true })
      return found
    },
    // The draft is newer than the loaded data; `useRemoteChanges` looks for changes by others.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/**
 * The state of the deployment, and whether the saved draft differs from it. `revision`: the saved revision of the
 * draft. Each revision has its own entry, so a status of an earlier one never counts for a later one.
 */
export function useStatus(id: string, revision: number) {
  return useQuery({
    queryKey: ['workflow-status', id, revision],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/status', { params: { id }, signal }),
    placeholderData: (before) => before,
    staleTime: 0,
    gcTime: 0,
  })
}

/** Requests the data of the editor before its code is loaded. */
export function prefetchWorkflow(queries: QueryClient, id: string): void {
  void queries.prefetchQuery(blockTypesQuery)
  void queries.prefetchQuery(prefetchedWorkflow(id))
}

/** Loads a workflow from the service. */
export async function loadWorkflow(id: string, signal?: AbortSignal): Promise<WorkflowResponse> {
  // The route types lose the members of records; the response schema has them.
  return (await call('GET /api/workflows/:id', {
    params: { id },
    ...(signal ? { signal } : {}),
  })) as unknown as WorkflowResponse
}

/** The draft with its check if somebody else has saved it after a revision, else null. */
export async function loadNewer(id: string, revision: number): Promise<SavedWorkflow | null> {
  const { workflow } = await call('GET /api/editor/workflows/:id/newer', { params: { id }, query: { revision } })
  return workflow as unknown as SavedWorkflow | null
}

/**
 * The prefetched workflow. Its reader removes it, so that the next editor loads fresh data. It is kept for a minute,
 * because the code of the editor may arrive much later on a slow connection. It is not retried: the query that reads it
 * retries.
 */
function prefetchedWorkflow(id: string) {
  return queryOptions({
    queryKey: ['workflow-prefetch', id],
    queryFn: ({ signal }) => loadWorkflow(id, signal),
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  })
}
