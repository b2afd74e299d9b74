import { type Static, Type as t } from '@sinclair/typebox'
import type { ListedConnector } from '../../../connectors/connectors.ts'
import { importFormats } from '../../../connectors/import/formats.ts'
import type { Connector as ConnectorDocument } from '../../../domain/connector/connector.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'

const ListedOperation = t.Object({
  id: t.String(),
  label: t.String(),
  description: t.Union([t.String(), t.Null()]),
})

const ConnectorSummary = t.Object({
  id: t.String(),
  name: t.String(),
  description: t.Union([t.String(), t.Null()]),
  builtIn: t.Boolean({ description: 'Whether it comes with the service.' }),
  updatedAt: maybe(Time),
  operations: t.Array(ListedOperation),
})
export const ConnectorList = listOf(ConnectorSummary)

export const Connector = t.Object(
  {
    builtIn: t.Boolean(),
    updatedAt: maybe(Time),
    connector: t.Unknown({ description: 'The document, as in docs/connectors.md.' }),
  },
  { $id: 'Connector' },
)

export const ConnectorImport = t.Object({
  url: t.Optional(t.String({ description: 'Where the document is.' })),
  document: t.Optional(t.Unknown({ description: 'The document itself, as text or as an object, if there is no URL.' })),
  format: t.Optional(oneOf(importFormats, { description: 'By default, the document shows what it is.' })),
  id: t.Optional(t.String({ description: 'The ID of the connector. It may replace one of the workspace.' })),
  operations: t.Optional(t.Array(t.String(), { description: 'The IDs of the operations to take; all by default.' })),
  preview: t.Optional(t.Boolean({ description: 'Returns the connector (200) without adding it.' })),
})
export const ImportedConnector = t.Object({
  connector: t.Unknown({ description: 'The document.' }),
  notTaken: t.Array(t.Object({ path: t.String(), reason: t.String() })),
})

export const ConnectorDocumentBody = t.Unknown({ description: 'A connector document.' })

export function summaryOf({ connector, row }: ListedConnector): Static<typeof ConnectorSummary> {
  const operations = Object.entries(connector.operations).map(([id, { label, description = null }]) => {
    return { id, label, description }
  })
  const { id, name, description = null } = connector
  return { id, name, description, ...changeOf(row), operations }
}

export function connectorOf({ connector, row }: ListedConnector): Static<typeof Connector> & {
  connector: ConnectorDocument
} {
  return { ...changeOf(row), connector }
}

function changeOf(row: ListedConnector['row']): { builtIn: boolean; updatedAt: string | null } {
  return { builtIn: row === null, updatedAt: row && isoTime(row.updatedAt) }
}
