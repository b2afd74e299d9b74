import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import type { Services } from '../../services.ts'
import { readImport } from './connector-import.ts'
import {
  Connector,
  ConnectorDocumentBody,
  ConnectorImport,
  ConnectorList,
  connectorOf,
  ImportedConnector,
  summaryOf,
} from './connector-schemas.ts'

/** Connectors of a workspace, and those that come with the service: `/api/workspaces/<id>/connectors`. */
export function connectorRoutes(services: Services, door: Door) {
  const { connectors, settings } = services
  return new Elysia({ prefix: '/api/workspaces/:id/connectors' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        return { data: (await connectors.list(id)).map(summaryOf) }
      },
      route({
        name: 'listConnectors',
        summary: 'List connectors',
        description: 'The services that operation blocks can call: those of the workspace, and those of the service.',
        tag: 'Connectors',
        responses: { 200: ConnectorList },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/import',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'write', 'workspace')
        const wanted = readImport(await readJsonBody(request, settings.documentBody))
        const document =
          wanted.url === undefined ? wanted.document : await services.loadDocument(id, wanted.url, request.signal)
        const { format, operations, url: source = '' } = wanted
        const how = { format, operations, source, id: wanted.id }
        const { connector, notTaken } = await services.connectorImports.import(document, how, request.signal)
        if (wanted.preview) return { connector, notTaken }
        // Only an ID that the caller names replaces another connector.
        if (wanted.id === undefined && (await connectors.find(id, connector.id))) {
          throw new AppError('CONFLICT', `There is a connector "${connector.id}" already. Name another ID.`)
        }
        await connectors.put(id, connector.id, connector, caller.userId)
        set.status = 201
        return { connector, notTaken }
      },
      route({
        name: 'importConnector',
        summary: 'Import a connector',
        description:
          'Makes a connector from an OpenAPI document (2.0, 3.0 or 3.1, as JSON or YAML), a Google Discovery document, ' +
          'a cURL command or a HAR file. `notTaken` lists every part of it that a connector cannot have.',
        tag: 'Connectors',
        body: ConnectorImport,
        responses: { 200: ImportedConnector, 201: ImportedConnector },
        errors: [
          'INVALID_JSON',
          'INVALID_INPUT',
          'PAYLOAD_TOO_LARGE',
          'FORBIDDEN',
          'NOT_FOUND',
          'CONFLICT',
          'OVERLOADED',
        ],
      }),
    )
    .get(
      '/:connectorId',
      async ({ request, set, params: { id, connectorId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        return connectorOf(await connectors.get(id, connectorId))
      },
      route({
        name: 'getConnector',
        summary: 'Get a connector',
        description: 'The whole document, with the parameters of each operation.',
        tag: 'Connectors',
        responses: { 200: Connector },
        errors: ['NOT_FOUND'],
      }),
    )
    .put(
      '/:connectorId',
      async ({ request, set, params: { id, connectorId } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'write', 'workspace')
        const document = await readJsonBody(request, settings.documentBody)
        const { isNew } = await connectors.put(id, connectorId, document, caller.userId)
        set.status = isNew ? 201 : 200
        return connectorOf(await connectors.get(id, connectorId))
      },
      route({
        name: 'putConnector',
        summary: 'Add or replace a connector',
        description:
          'A document with faults is refused with a row for each of them. 409 for a connector of the service.',
        tag: 'Connectors',
        body: ConnectorDocumentBody,
        responses: { 200: Connector, 201: Connector },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .delete(
      '/:connectorId',
      async ({ request, set, params: { id, connectorId } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        await connectors.delete(id, connectorId)
        set.status = 204
      },
      route({
        name: 'deleteConnector',
        summary: 'Delete a connector',
        description: 'Blocks that call it fail from then on. 409 for a connector of the service.',
        tag: 'Connectors',
        responses: { 204: t.Void({ description: 'Deleted.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
}
