import type { FolderRow } from '../../dashboard-store.ts'
import type { WorkflowPlace, WorkflowQuery, WorkflowSort } from '../../workflow-store.ts'
import type { Sql, Value } from '../connection.ts'

/** Reads the index of the order, and the rows only for the other conditions. */
export function pageWorkflows(sql: Sql, query: WorkflowQuery): WorkflowPlace[] {
  const { workspaceId, folder, deployedOnly, search, sort, order, after, limit } = query
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)?.number
  if (workspace === undefined) return []
  const key = keys[sort]
  const conditions: [string, ...Value[]][] = [
    ['f.workspace = ? AND f.deleted_at IS NULL', workspace],
    ...(after ? [conditionAfter(sort, order, after)] : []),
    ...(folder === undefined ? [] : [[`coalesce(f.folder, '') = ?`, folder ?? ''] as [string, Value]]),
    ...(deployedOnly ? [['f.active_version IS NOT NULL'] as [string]] : []),
    ...(search === undefined ? [] : [['instr(lower(f.name), lower(?)) > 0', search] as [string, Value]]),
  ]
  return sql.all<WorkflowPlace>(
    `SELECT f.id, ${key} AS key, f.number FROM workflows f INDEXED BY ${indexes[sort]}
     WHERE ${conditions.map(([text]) => text).join(' AND ')}
     ORDER BY ${key} ${order}${sort === 'updated' ? `, f.number ${order}` : ''} LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    limit,
  )
}

const keys: Readonly<Record<WorkflowSort, string>> = { created: 'f.number', name: 'f.name', updated: 'f.updated_at' }
const indexes: Readonly<Record<WorkflowSort, string>> = {
  created: 'workflows_by_age',
  name: 'workflows_by_name',
  updated: 'workflows_by_save',
}

function conditionAfter(
  sort: WorkflowSort,
  order: 'asc' | 'desc',
  { key, number }: Omit<WorkflowPlace, 'id'>,
): [string, ...Value[]] {
  const beyond = order === 'asc' ? '>' : '<'
  return sort === 'updated'
    ? [`(f.updated_at, f.number) ${beyond} (?, ?)`, key, number]
    : [`${keys[sort]} ${beyond} ?`, key]
}

export function listFolders(sql: Sql, workspaceId: string): FolderRow[] {
  return sql.all<FolderRow>(
    `SELECT folder AS path, min(created_at) AS createdAt, max(updated_at) AS updatedAt, count(*) AS workflows
     FROM workflows INDEXED BY workflows_by_folder
     WHERE workspace = (SELECT number FROM workspaces WHERE id = ?) AND folder > '' AND deleted_at IS NULL
     GROUP BY folder ORDER BY folder`,
    workspaceId,
  )
}
