import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { WorkflowAnswer } from '../../http/answers.ts'
import { call } from '../api/call.ts'

/** The block types. They change with the service only. */
export const blockTypesQuery = queryOptions({
  queryKey: ['block-types'],
  queryFn: ({ signal }) => call('GET /api/editor/blocks', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The workflow that an editor begins with. */
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
    // The draft is ahead of what was loaded; what others save is looked for by the workbench.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** What the service says of the active version, and whether the draft is another one; asked for anew after each saving. */
export function useStatus(id: string, isSaved: boolean) {
  return useQuery({
    queryKey: ['workflow-status', id, isSaved],
    queryFn: ({ signal }) => call('GET /api/workflows/:id/status', { params: { id }, signal }),
    placeholderData: (before) => before,
  })
}

/** Asks for what the editor of a workflow begins with, before there is an editor. */
export function prefetchWorkflow(queries: QueryClient, id: string): void {
  void queries.prefetchQuery(blockTypesQuery)
  void queries.prefetchQuery(prefetchedWorkflow(id))
}

/** A workflow as the service has it. */
export async function loadWorkflow(id: string, signal?: AbortSignal): Promise<WorkflowAnswer> {
  // The routes' own types lose the members of records; the answer's schema has them.
  return (await call('GET /api/workflows/:id', {
    params: { id },
    ...(signal ? { signal } : {}),
  })) as unknown as WorkflowAnswer
}

/**
 * What was asked for when the page began. Whoever takes it forgets it, so that the next editor begins with what is there then.
 * Tried once: the query that takes it tries again.
 */
function prefetchedWorkflow(id: string) {
  return queryOptions({
    queryKey: ['workflow-prefetch', id],
    queryFn: ({ signal }) => loadWorkflow(id, signal),
    retry: false,
    staleTime: 10_000,
    gcTime: 10_000,
  })
}
