import type { EntryScope } from '../../../domain/entry/entry.ts'
import type { PlacedRequest } from '../../../domain/entry/plan-changes.ts'
import type { Sql } from '../connection.ts'

/** Also finds deleted workflows: their accepted runs still run. */
export function scopeOf(
  sql: Sql,
  { workspaceId, workflowId }: EntryScope,
): Pick<PlacedRequest, 'workspace' | 'workflow'> | undefined {
  if (workflowId === null) {
    const found = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)
    return found && { workspace: found.number, workflow: 0 }
  }
  return sql.get<Pick<PlacedRequest, 'workspace' | 'workflow'>>(
    `SELECT w.number AS workspace, f.number AS workflow
     FROM workflows f JOIN workspaces w ON w.number = f.workspace WHERE f.id = ? AND w.id = ?`,
    ...[workflowId, workspaceId],
  )
}

export function bytesOf(sql: Sql, workspace: number): number {
  return sql.get<{ bytes: number }>('SELECT bytes FROM store_usage WHERE workspace = ?', workspace)?.bytes ?? 0
}

export function setBytes(sql: Sql, workspace: number, bytes: number): void {
  sql.run(
    'INSERT INTO store_usage (workspace, bytes) VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes',
    ...[workspace, bytes],
  )
}
