import { assertConnectorFits, type ConnectorRow } from '../../connector-store.ts'
import { unknownWorkspace } from '../../errors/account-errors.ts'
import { type Sql, storable } from '../connection.ts'

/** By ID. */
export async function listConnectors(sql: Sql, workspaceId: string): Promise<ConnectorRow[]> {
  return await sql.all<ConnectorRow>(`${select} WHERE w.id = $1 ORDER BY c.id`, storable(workspaceId))
}

export async function getConnector(sql: Sql, workspaceId: string, id: string): Promise<ConnectorRow | undefined> {
  return await sql.get<ConnectorRow>(`${select} WHERE w.id = $1 AND c.id = $2`, storable(workspaceId), storable(id))
}

export async function putConnector(sql: Sql, connector: ConnectorRow): Promise<boolean> {
  const { workspaceId, id, document, updatedAt, updatedBy } = connector
  // The lock keeps two changes from filling the same place.
  const workspace = await sql.get<{ number: number }>(
    'SELECT number FROM millrace.workspaces WHERE id = $1 FOR UPDATE',
    storable(workspaceId),
  )
  if (!workspace) throw unknownWorkspace(workspaceId)
  const others = await sql.get<{ count: number; bytes: number }>(
    `SELECT count(*) AS count, coalesce(sum(octet_length(document)), 0)::bigint AS bytes
     FROM millrace.connectors WHERE workspace = $1 AND id <> $2`,
    ...[workspace.number, id],
  )
  assertConnectorFits(others!, document)
  const written = await sql.get<{ isNew: boolean }>(
    `INSERT INTO millrace.connectors (workspace, id, document, updated_at, updated_by) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace, id)
     DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at, updated_by = excluded.updated_by
     RETURNING xmax = 0 AS "isNew"`,
    ...[workspace.number, id, storable(document), updatedAt, updatedBy],
  )
  return written!.isNew
}

export async function deleteConnector(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const deleted = await sql.run(
    `DELETE FROM millrace.connectors
     WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND id = $2`,
    ...[storable(workspaceId), storable(id)],
  )
  return deleted > 0
}

const select = `
  SELECT w.id AS "workspaceId", c.id, c.document, c.updated_at AS "updatedAt", c.updated_by AS "updatedBy"
  FROM millrace.connectors c JOIN millrace.workspaces w ON w.number = c.workspace`
