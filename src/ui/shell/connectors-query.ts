import { queryOptions } from '@tanstack/react-query'
import type { Connector } from '../../domain/connector/connector.ts'
import { call, type ResponseOf } from '../api/call.ts'

export type ConnectorSummary = ResponseOf<'GET /api/workspaces/:id/connectors'>['data'][number]

/** The services that a workspace can use, with the names of their operations. */
export function connectorsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['connectors', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/connectors', { params: { id: workspaceId }, signal }),
    staleTime: 60_000,
  })
}

/** One connector with the parameters of its operations. */
export function connectorQuery(workspaceId: string, connectorId: string) {
  return queryOptions({
    queryKey: ['connectors', workspaceId, connectorId],
    queryFn: async ({ signal }) => {
      const params = { id: workspaceId, connectorId }
      const { connector } = await call('GET /api/workspaces/:id/connectors/:connectorId', { params, signal })
      return connector as Connector
    },
    enabled: connectorId !== '',
    staleTime: 60_000,
    retry: false,
  })
}
