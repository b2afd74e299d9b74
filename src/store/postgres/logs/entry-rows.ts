import { runSources, runStatuses } from '../../../domain/run/log.ts'
import type { EntryFacts } from '../../../domain/run/log-entry.ts'
import { levels, triggers } from '../../stored-values.ts'

/** The facts of an entry as queries return them: some texts are stored as numbers. */
export type SqlFacts = Omit<EntryFacts, 'level' | 'status' | 'source' | 'trigger'> & {
  level: number
  status: number
  source: number | null
  trigger: number
}

/** The columns of `SqlFacts` of a row `l` of `millrace.logs`. */
export const factColumns = `
  l.sequence, (SELECT f.id FROM millrace.workflows f WHERE f.number = l.workflow) AS "workflowId",
  l.execution_id AS "executionId", l.version, l.level, l.status, l.partial, l.source, l.trigger,
  l.started_at AS "startedAt", l.ended_at AS "endedAt", l.duration_ms AS "durationMs",
  l.paused_ms AS "pausedMs", l.cost_total AS "costTotal"`

/** The present name of the version that ran, and the files of the run. Drafts have no name. */
export const noteColumns = `
  (SELECT d.name FROM millrace.deployments d WHERE d.workflow = l.workflow AND d.version = l.version) AS "versionName",
  (SELECT r.files FROM millrace.run_files r WHERE r.sequence = l.sequence AND NOT r.gone) AS files, l.labels`

export const factsOf = (row: SqlFacts): EntryFacts => ({
  sequence: row.sequence,
  workflowId: row.workflowId,
  executionId: row.executionId,
  version: row.version,
  level: levels[row.level]!,
  status: runStatuses[row.status]!,
  partial: row.partial,
  source: row.source === null ? null : runSources[row.source]!,
  trigger: triggers[row.trigger]!,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  durationMs: row.durationMs,
  pausedMs: row.pausedMs,
  costTotal: row.costTotal,
})
