import { type LogRow, runSources, runStatuses } from '../../../domain/run/log.ts'
import type { EntryFacts, EntryNotes } from '../../../domain/run/log-entry.ts'
import type { KeyRow } from '../../account-store.ts'
import type { LogDetailRow } from '../../run-store.ts'
import { documentOf, levels, rolesOf, triggers } from '../../stored-values.ts'
import type { DeploymentRow, WorkflowRow } from '../../workflow-store.ts'
import type { Value } from '../connection.ts'
import type { Long } from '../logs/chunk.ts'

// Rows of queries and their conversion to the rows of the port. Queries name columns like the port, except those that
// need a conversion: SQLite has no booleans, documents and roles are JSON, and some texts are stored as numbers.

export type SqlKey = Omit<KeyRow, 'roles'> & { roles: string }

export const keyOf = (row: SqlKey): KeyRow => ({ ...row, roles: rolesOf(row.roles) })

export type SqlWorkflow = Omit<WorkflowRow, 'document' | 'hasChanges'> & { document: string; hasChanges: number }

export const workflowOf = (row: SqlWorkflow): WorkflowRow => ({
  ...row,
  document: documentOf(row.id, row.document),
  hasChanges: row.hasChanges === 1,
})

export type SqlDeployment = Omit<DeploymentRow, 'document' | 'active'> & { document: string; active: number }

export const deploymentOf = (row: SqlDeployment): DeploymentRow => ({
  ...row,
  document: documentOf(row.workflowId, row.document),
  active: row.active === 1,
})

export type SqlFacts = Omit<
  EntryFacts,
  'workflowId' | 'executionId' | 'level' | 'trigger' | 'status' | 'partial' | 'source'
> & {
  executionId: string | Uint8Array
  facts: number | null
  level: number
  trigger: number
}

/** The columns of `SqlFacts`. */
export const factColumns =
  'sequence, execution_id AS executionId, level, trigger, started_at AS startedAt, ended_at AS endedAt, ' +
  'duration_ms AS durationMs, paused_ms AS pausedMs, cost_total AS costTotal, version, facts'

/** The index of a row's status. Rows of earlier versions have no facts. */
export const statusColumn = `coalesce(facts & 3, level)`

/** The bit of `facts` for a row with notes. */
export const notesBit = 8

export const factsOf = (row: SqlFacts, workflowId: string): EntryFacts => ({
  sequence: row.sequence,
  executionId: executionIdOf(row.executionId),
  workflowId,
  version: row.version,
  level: levels[row.level]!,
  ...factTextsOf(unpackFacts(row)),
  trigger: triggers[row.trigger]!,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  durationMs: row.durationMs,
  pausedMs: row.pausedMs,
  costTotal: row.costTotal,
})

const factTextsOf = ({ status, partial, source }: PackedFacts): Pick<EntryFacts, 'status' | 'partial' | 'source'> => ({
  status: runStatuses[status]!,
  partial,
  source: source === null ? null : (runSources[source] ?? null),
})

/** The parts of the column `facts`. `status` and `source` are indexes of `runStatuses` and `runSources`. */
export type PackedFacts = { status: number; partial: boolean; source: number | null }

export function packFacts({ status, partial, source }: PackedFacts, hasNotes: boolean): number {
  const origin = source === null ? 0 : (source + 1) << sourceShift
  return status | (partial ? partialBit : 0) | (hasNotes ? notesBit : 0) | origin
}

export function unpackFacts({ facts, level }: { facts: number | null; level: number }): PackedFacts {
  if (facts === null) return { status: level, partial: false, source: null }
  const source = (facts >> sourceShift) - 1
  return { status: facts & 3, partial: (facts & partialBit) !== 0, source: source < 0 ? null : source }
}

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
  factsNumber(row),
  row.pausedMs ?? null,
]

function factsNumber({ level, cancelled, partial, source, failure, labels }: LogRow): number {
  return packFacts(
    {
      status: cancelled ? 2 : levels.indexOf(level),
      partial: partial ?? false,
      source: source === undefined ? null : runSources.indexOf(source),
    },
    !!(failure || labels),
  )
}

const partialBit = 4
const sourceShift = 4

export type SqlLogDetail = SqlFacts &
  Pick<LogDetailRow, 'workflowId' | 'workspaceId' | 'createdAt'> & {
    workflowName: string
    workflowDescription: string | null
  }

/** The parts of a log entry that are read from elsewhere. */
export type LogParts = { long: Long; files: string | null; notes: EntryNotes }

export const logDetailOf = (row: SqlLogDetail, { long, files, notes }: LogParts): LogDetailRow => ({
  ...factsOf(row, row.workflowId),
  ...notes,
  workspaceId: row.workspaceId,
  createdAt: row.createdAt,
  cost: long.cost,
  finalOutput: long.finalOutput,
  traceSpans: long.traceSpans,
  files,
  workflow: { id: row.workflowId, name: row.workflowName, description: row.workflowDescription },
})

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
