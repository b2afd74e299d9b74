import { assertConnectorFits, type ConnectorRow } from '../../connector-store.ts'
import { unknownWorkspace } from '../../errors/account-errors.ts'
import type { Sql } from '../connection.ts'

/** By ID. */
export function listConnectors(sql: Sql, workspaceId: string): ConnectorRow[] {
  return sql.all<ConnectorRow>(`${select} WHERE w.id = ? ORDER BY c.id`, workspaceId)
}

export function getConnector(sql: Sql, workspaceId: string, id: string): ConnectorRow | undefined {
  return sql.get<ConnectorRow>(`${select} WHERE w.id = ? AND c.id = ?`, workspaceId, id)
}

export function putConnector(sql: Sql, { workspaceId, id, document, updatedAt, updatedBy }: ConnectorRow): boolean {
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)?.number
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  const others = sql.get<{ count: number; bytes: number }>(
    `SELECT count(*) AS count, coalesce(sum(octet_length(document)), 0) AS bytes
     FROM connectors WHERE workspace = ? AND id <> ?`,
    ...[workspace, id],
  )!
  assertConnectorFits(others, document)
  const change = [document, updatedAt, updatedBy, workspace, id]
  const replaced = sql.run(
    'UPDATE connectors SET document = ?, updated_at = ?, updated_by = ? WHERE workspace = ? AND id = ?',
    ...change,
  )
  if (replaced > 0) return false
  sql.run('INSERT INTO connectors (document, updated_at, updated_by, workspace, id) VALUES (?, ?, ?, ?, ?)', ...change)
  return true
}

export function deleteConnector(sql: Sql, workspaceId: string, id: string): boolean {
  const deleted = sql.run(
    'DELETE FROM connectors WHERE workspace = (SELECT number FROM workspaces WHERE id = ?) AND id = ?',
    ...[workspaceId, id],
  )
  return deleted > 0
}

const select = `
  SELECT w.id AS workspaceId, c.id, c.document, c.updated_at AS updatedAt, c.updated_by AS updatedBy
  FROM connectors c JOIN workspaces w ON w.number = c.workspace`
