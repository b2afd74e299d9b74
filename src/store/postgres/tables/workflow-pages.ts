import type { FolderRow } from '../../dashboard-store.ts'
import type { WorkflowPlace, WorkflowQuery, WorkflowSort } from '../../workflow-store.ts'
import { type Sql, storable, type Value } from '../connection.ts'

/** Reads the index of the order, and the rows only for the other conditions. */
export async function pageWorkflows(sql: Sql, query: WorkflowQuery): Promise<WorkflowPlace[]> {
  const { workspaceId, folder, deployedOnly, search, sort, order, after, limit } = query
  const workspace = await sql.get<{ number: number }>(
    'SELECT number FROM millrace.workspaces WHERE id = $1',
    storable(workspaceId),
  )
  if (!workspace) return []
  const values: Value[] = []
  const sent = (value: Value) => `$${values.push(typeof value === 'string' ? storable(value) : value)}`
  const key = keys[sort]
  const conditions = [`f.workspace = ${sent(workspace.number)}`, 'f.deleted_at IS NULL']
  if (after) {
    const beyond = order === 'asc' ? '>' : '<'
    if (sort === 'name') conditions.push(`f.name ${beyond} ${sent(after.key)}`)
    else if (sort === 'created') conditions.push(`f.number ${beyond} ${sent(after.number)}::bigint`)
    else
      conditions.push(`(f.updated_at, f.number) ${beyond} (${sent(after.key)}::bigint, ${sent(after.number)}::bigint)`)
  }
  if (folder !== undefined) conditions.push(`coalesce(f.folder, '') = ${sent(folder ?? '')}`)
  if (deployedOnly) conditions.push('f.active_version IS NOT NULL')
  // The collation of the column changes only the letters A to Z.
  if (search !== undefined) conditions.push(`strpos(lower(f.name), lower(${sent(search)} COLLATE "C")) > 0`)
  return await sql.all<WorkflowPlace>(
    `SELECT f.id, ${key} AS key, f.number FROM millrace.workflows f
     WHERE ${conditions.join(' AND ')}
     ORDER BY ${key} ${order}${sort === 'updated' ? `, f.number ${order}` : ''} LIMIT ${sent(limit)}::bigint`,
    ...values,
  )
}

export async function listFolders(sql: Sql, workspaceId: string): Promise<FolderRow[]> {
  return await sql.all<FolderRow>(
    `SELECT folder AS path, min(created_at) AS "createdAt", max(updated_at) AS "updatedAt", count(*) AS workflows
     FROM millrace.workflows
     WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND folder > ''
       AND deleted_at IS NULL
     GROUP BY folder ORDER BY folder`,
    storable(workspaceId),
  )
}

const keys: Readonly<Record<WorkflowSort, string>> = { created: 'f.number', name: 'f.name', updated: 'f.updated_at' }
