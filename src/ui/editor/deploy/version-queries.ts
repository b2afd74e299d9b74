import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'
import type { Document } from '../document/document.ts'
import { openDocument } from '../document/edit.ts'

export type Version = ResponseOf<'GET /api/workflows/:id/deployments'>['data'][number]

/** The versions of a workflow, newest first. */
export function versionsQuery(id: string) {
  return queryOptions({
    queryKey: ['deployments', id],
    queryFn: async ({ signal }) => (await call('GET /api/workflows/:id/deployments', { params: { id }, signal })).data,
  })
}

/** The document of a version, completed like a draft, so that both can be compared. It never changes. */
export function versionDocumentQuery(id: string, version: number | null) {
  return queryOptions({
    queryKey: ['deployment', id, version],
    enabled: version !== null,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const params = { id, version: String(version) }
      const found = await call('GET /api/workflows/:id/deployments/:version', { params, signal })
      const { id: _, ...document } = found.document as unknown as Document & { id?: string }
      return openDocument(document)
    },
  })
}

/** To be called after a version was created, changed or activated. */
export function refreshVersions(queries: QueryClient, id: string): void {
  for (const key of ['deployments', 'workflow-status']) void queries.invalidateQueries({ queryKey: [key, id] })
  void queries.invalidateQueries({ queryKey: ['workflows'] })
}
