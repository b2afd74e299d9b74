import type { Role } from '../../../domain/account/role.ts'
import type { Level, LogRow } from '../../../domain/run/log.ts'
import type { EntryFacts } from '../../../domain/run/log-entry.ts'
import type { TriggerKind, WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { DeploymentRow, KeyRow, LogDetailRow, WorkflowRow, WorkspaceRow } from '../../store.ts'
import type { Value } from '../connection.ts'
import type { Long } from '../logs/chunk.ts'

// The rows of SQLite next to the rows of the port, and the conversions between them.

export type SqlWorkspace = { id: string; name: string; owner_id: string; created_at: number; role: Role | null }

export const workspaceOf = (row: SqlWorkspace): WorkspaceRow => ({
  id: row.id,
  name: row.name,
  ownerId: row.owner_id,
  createdAt: row.created_at,
  role: row.role,
})

export type SqlKey = {
  id: string
  last_four: string
  name: string
  user_id: string
  workspace_id: string | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
  /** JSON: role by workspace. */
  roles: string
}

export const keyOf = (row: SqlKey): KeyRow => ({
  id: row.id,
  lastFour: row.last_four,
  name: row.name,
  userId: row.user_id,
  workspaceId: row.workspace_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
  roles: JSON.parse(row.roles) as Record<string, Role>,
})

export type SqlWorkflow = {
  id: string
  workspace_id: string
  document: string
  created_at: number
  updated_at: number
  updated_by: string | null
  revision: number
  has_changes: number
  active_version: number | null
  deployed_at: number | null
}

export const workflowOf = (row: SqlWorkflow): WorkflowRow => ({
  id: row.id,
  workspaceId: row.workspace_id,
  document: documentOf(row.id, row.document),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  updatedBy: row.updated_by,
  revision: row.revision,
  hasChanges: row.has_changes === 1,
  activeVersion: row.active_version,
  deployedAt: row.deployed_at,
})

export type SqlDeployment = {
  workflow_id: string
  version: number
  document: string
  created_at: number
  created_by: string
  active: number
  name: string | null
  description: string | null
}

export const deploymentOf = (row: SqlDeployment): DeploymentRow => ({
  workflowId: row.workflow_id,
  version: row.version,
  document: documentOf(row.workflow_id, row.document),
  createdAt: row.created_at,
  createdBy: row.created_by,
  active: row.active === 1,
  name: row.name,
  description: row.description,
})

/** Omits the ID, which has its own column, and the webhooks, which have their own table. */
export function documentText(document: WorkflowDocument): string {
  const { id: _, webhooks: _webhooks, ...rest } = document
  return JSON.stringify(rest)
}

export function documentOf(id: string, text: string): WorkflowDocument {
  return { id, ...(JSON.parse(text) as WorkflowDocument) }
}

export type SqlFacts = {
  sequence: number
  execution_id: string | Uint8Array
  level: number
  trigger: number
  started_at: number
  ended_at: number
  duration_ms: number
  cost_total: number
}

/** The columns of `SqlFacts`. */
export const factColumns = 'sequence, execution_id, level, trigger, started_at, ended_at, duration_ms, cost_total'

export const factsOf = (row: SqlFacts, workflowId: string): EntryFacts => ({
  sequence: row.sequence,
  executionId: executionIdOf(row.execution_id),
  workflowId,
  level: levels[row.level]!,
  trigger: triggers[row.trigger]!,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  durationMs: row.duration_ms,
  costTotal: row.cost_total,
})

/** The numbers that stand for texts of a row on disk. */
export type LogNumbers = { workspace: number; workflow: number; modelSet: number }

/** In the order of the columns of `insertLog`. */
export const logValues = (row: LogRow, { workspace, workflow, modelSet }: LogNumbers): Value[] => [
  workspace,
  row.sequence,
  workflow,
  executionKey(row.executionId),
  row.version,
  levels.indexOf(row.level),
  triggers.indexOf(row.trigger),
  row.createdAt,
  row.startedAt,
  row.endedAt,
  row.durationMs,
  row.costTotal,
  modelSet,
]

export type SqlLogDetail = SqlFacts & {
  workflow_id: string
  workspace_id: string
  version: number
  created_at: number | null
  workflow_name: string
  workflow_description: string | null
}

export const logDetailOf = (row: SqlLogDetail, long: Long, files: string | null): LogDetailRow => ({
  ...factsOf(row, row.workflow_id),
  workspaceId: row.workspace_id,
  version: row.version,
  createdAt: row.created_at,
  cost: long.cost,
  finalOutput: long.finalOutput,
  traceSpans: long.traceSpans,
  files,
  workflow: { id: row.workflow_id, name: row.workflow_name, description: row.workflow_description },
})

// The database stores the index of a level or trigger: only ever append.
export const levels: readonly Level[] = ['info', 'error']
export const triggers: readonly TriggerKind[] = ['api', 'webhook', 'schedule', 'manual', 'chat']

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Stores a UUID in 16 bytes instead of 36, in the table and in the index. Any other ID stays text. */
export function executionKey(executionId: string): string | Uint8Array {
  return uuid.test(executionId) ? Uint8Array.fromHex(executionId.replaceAll('-', '')) : executionId
}

export function executionIdOf(key: string | Uint8Array): string {
  if (typeof key === 'string') return key
  const hex = key.toHex()
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
