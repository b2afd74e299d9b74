import { sequenceAt, timeOfSequence } from '../../../domain/ids.ts'
import { billingPeriodOf } from '../../../domain/run/cost.ts'
import { countsAsUsage, type LogRow, runSources } from '../../../domain/run/log.ts'
import type { LogWrite } from '../../../domain/run/write.ts'
import type { LogDetailRow } from '../../run-store.ts'
import { searchTextOf } from '../../search-text.ts'
import { levels, triggers } from '../../stored-values.ts'
import { unknownWorkflow } from '../../unknown-workflow.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { isRefusedRow } from '../failures.ts'
import { commitOrderOf } from '../logs/commit-order.ts'
import { factColumns, factsOf, noteColumns, type SqlFacts } from '../logs/entry-rows.ts'
import { insertRunFiles } from '../tables/run-files.ts'
import { insertWebhooks } from './deliveries.ts'
import { addModelUsage } from './model-usage.ts'

/**
 * The entries of one group, in one statement that is a transaction of its own. False when nothing was written: an entry
 * is there already or belongs to no workflow, or one needs more than its row. `appendLogs` takes care of all that.
 */
export async function appendNewLogs(database: Sql, logs: readonly LogWrite[]): Promise<boolean> {
  const rows = logs.map(({ row }) => row)
  if (rows.length === 0 || rows.some((row) => row.files || row.webhooks || countsAsUsage(row))) return false
  try {
    await database.run(insertAll, ...insertValues(rows))
    return true
  } catch (error) {
    if (isRefusedRow(error)) return false
    throw error
  }
}

/**
 * The entries of one group. An entry that is there already stays as it is, and its cost is not added again: after a
 * lost connection, it is unknown whether a group was committed.
 */
export async function appendLogs(sql: Sql, logs: readonly LogWrite[]): Promise<void> {
  if (logs.length === 0) return
  const rows = logs.map(({ row }) => row)
  const workflows = await insertRows(sql, rows)
  const added = workflows.size === rows.length ? rows : rows.filter(({ sequence }) => workflows.has(sequence))
  const withWebhooks = added.flatMap(({ webhooks, sequence, endedAt }) =>
    webhooks ? [{ sequence, workflow: workflows.get(sequence)!, webhooks, at: endedAt }] : [],
  )
  // Statements that do not wait for each other's results travel together.
  await Promise.all([
    insertRunFiles(sql, added),
    withWebhooks.length > 0 ? insertWebhooks(sql, withWebhooks) : undefined,
    addUsage(sql, added.filter(countsAsUsage)),
  ])
}

/** Returns the number of the workflow of each row that was not there yet, by sequence. */
async function insertRows(sql: Sql, rows: readonly LogRow[]): Promise<ReadonlyMap<number, number>> {
  const inserted = await sql.all<{ sequence: number; workflow: number }>(insert, ...insertValues(rows))
  const workflows = new Map(inserted.map(({ sequence, workflow }) => [sequence, workflow]))
  if (workflows.size < rows.length) {
    const missing = rows.filter(({ sequence }) => !workflows.has(sequence))
    await assertPresent(sql, missing)
  }
  return workflows
}

/** `$1` to `$3` of the statements that insert rows. */
function insertValues(rows: readonly LogRow[]): [rows: string, from: number, to: number] {
  // The statement does not see its own rows.
  const runs = new Set(rows.map(({ executionId }) => executionId))
  if (runs.size < rows.length) throw new Error('Two log entries of a group belong to the same run')
  const times = rows.map(({ sequence }) => timeOfSequence(sequence))
  const [from, to] = [Math.min(...times) - sameRunMs, Math.max(...times) + sameRunMs]
  return [JSON.stringify(rows.map(storedRow)), sequenceAt(from), sequenceAt(to)]
}

/**
 * A second entry of a run is refused within this time of the first, so that PostgreSQL need not look into all
 * partitions.
 */
const sameRunMs = 86_400_000

/** Members that are NULL for most rows are absent then, which is faster to read. */
const storedRow = (row: LogRow) => ({
  sequence: row.sequence,
  executionId: row.executionId,
  workflowId: row.workflowId,
  workspaceId: row.workspaceId,
  version: row.version,
  level: levels.indexOf(row.level),
  status: row.cancelled ? 2 : levels.indexOf(row.level),
  trigger: triggers.indexOf(row.trigger),
  source: row.source && runSources.indexOf(row.source),
  partial: row.partial ?? false,
  createdAt: row.createdAt ?? undefined,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  durationMs: row.durationMs,
  costTotal: row.costTotal,
  models: row.models.length === 0 ? undefined : [...new Set(row.models)].map(storable),
  failure: row.failure && JSON.stringify(row.failure),
  labels: row.labels && labelsText(row.labels),
  search: row.failure || row.labels ? storable(searchTextOf(row)) : undefined,
  cost: row.cost ?? undefined,
  finalOutput: row.finalOutput,
  traceSpans: row.traceSpans,
})

/** The filter reads single labels, so they have to be texts that PostgreSQL can represent. */
function labelsText(labels: NonNullable<LogRow['labels']>): string {
  const pairs = Object.entries(labels).map(([name, text]) => [storable(name), storable(text)])
  return JSON.stringify(Object.fromEntries(pairs))
}

const columns = `
  sequence, commit_order, workspace, workflow, execution_id, version, level, status, trigger, source, partial,
  created_at, started_at, ended_at, duration_ms, cost_total, models, failure, labels, search, cost, final_output,
  trace_spans`

const valuesOf = (executionId: string) => `
  r.sequence, ${commitOrderOf('pg_current_xact_id()')}, w.number, f.number, ${executionId}, r.version, r.level,
  r.status, r.trigger, r.source, r.partial, r."createdAt", r."startedAt", r."endedAt", r."durationMs", r."costTotal",
  r.models, r.failure, r.labels, r.search, r.cost, r."finalOutput", r."traceSpans"`

const fromRows = `
  FROM json_to_recordset($1::text::json) AS r (sequence bigint, "executionId" text, "workflowId" text,
    "workspaceId" text, version integer, level smallint, status smallint, trigger smallint, source smallint,
    partial boolean, "createdAt" bigint, "startedAt" bigint, "endedAt" bigint, "durationMs" double precision,
    "costTotal" double precision, models text[], failure text, labels text, search text, cost text,
    "finalOutput" text, "traceSpans" text)`

// Entries have no unique index on the execution, because indexes of a partitioned table are unique only by sequence.
const hasOther = `
  EXISTS (SELECT 1 FROM millrace.logs o WHERE o.execution_id = r."executionId" AND o.sequence <> r.sequence
    AND o.sequence BETWEEN $2::bigint AND $3::bigint)`

const insert = `
  INSERT INTO millrace.logs (${columns})
  SELECT ${valuesOf('r."executionId"')} ${fromRows}
    JOIN millrace.workflows f ON f.id = r."workflowId"
    JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"
  WHERE NOT ${hasOther}
  ON CONFLICT (sequence) DO NOTHING
  RETURNING sequence, workflow`

/**
 * Inserts all rows or none: what `insert` leaves out is NULL here, in columns that refuse it, and a sequence that is
 * there already is refused.
 */
const insertAll = `
  INSERT INTO millrace.logs (${columns})
  SELECT ${valuesOf(`CASE WHEN NOT ${hasOther} THEN r."executionId" END`)} ${fromRows}
    LEFT JOIN millrace.workflows f ON f.id = r."workflowId"
    LEFT JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"`

/** Rejects unless each of these rows was not inserted because it is there already. */
async function assertPresent(sql: Sql, rows: readonly LogRow[]): Promise<void> {
  const present = await sql.all<{ sequence: number; executionId: string }>(
    `SELECT sequence, execution_id AS "executionId" FROM millrace.logs
     WHERE sequence = ANY($1::bigint[]) OR execution_id = ANY($2::text[])`,
    listOf(rows.map(({ sequence }) => sequence)),
    listOf(rows.map(({ executionId }) => executionId)),
  )
  for (const row of rows) {
    const { sequence, executionId } = row
    if (present.some((each) => each.sequence === sequence && each.executionId === executionId)) continue
    if (present.some((each) => each.sequence === sequence)) {
      throw new Error(`The log sequence ${sequence} belongs to another run than ${executionId}`)
    }
    if (present.some((each) => each.executionId === executionId)) {
      throw new Error(`The run ${executionId} has a log entry already`)
    }
    throw unknownWorkflow(row)
  }
}

/** 0 when nothing was ever recorded. Counts deleted entries too. */
export async function lastSequence(sql: Sql): Promise<number> {
  const row = await sql.get<{ last: number }>(
    `SELECT greatest((SELECT max(sequence) FROM millrace.logs),
       (SELECT value FROM millrace.marks WHERE name = 'deleted'), 0) AS last`,
  )
  return row!.last
}

const selectDetail = `
  SELECT ${factColumns}, ${noteColumns}, w.id AS "workspaceId", l.created_at AS "createdAt", l.cost,
    l.final_output AS "finalOutput", l.trace_spans AS "traceSpans", f.name AS "workflowName",
    f.description AS "workflowDescription"
  FROM millrace.logs l
    JOIN millrace.workflows f ON f.number = l.workflow
    JOIN millrace.workspaces w ON w.number = l.workspace`

export async function getLog(sql: Sql, sequence: number): Promise<LogDetailRow | undefined> {
  const row = await sql.get<SqlDetail>(`${selectDetail} WHERE l.sequence = $1::bigint`, sequence)
  return row && detailOf(row)
}

export async function getExecution(sql: Sql, executionId: string): Promise<LogDetailRow | undefined> {
  const row = await sql.get<SqlDetail>(`${selectDetail} WHERE l.execution_id = $1`, storable(executionId))
  return row && detailOf(row)
}

type SqlDetail = SqlFacts &
  Omit<LogDetailRow, keyof SqlFacts | 'workflow'> & { workflowName: string; workflowDescription: string | null }

const detailOf = (row: SqlDetail): LogDetailRow => ({
  ...factsOf(row),
  versionName: row.versionName,
  labels: row.labels,
  workspaceId: row.workspaceId,
  createdAt: row.createdAt,
  cost: row.cost,
  finalOutput: row.finalOutput,
  traceSpans: row.traceSpans,
  files: row.files,
  workflow: { id: row.workflowId, name: row.workflowName, description: row.workflowDescription },
})

/** In USD. */
export async function getUsage(sql: Sql, userId: string, periodStart: number): Promise<number> {
  const row = await sql.get<{ cost: number }>(
    'SELECT cost FROM millrace.usage WHERE user_id = $1 AND period_start = $2::bigint',
    userId,
    periodStart,
  )
  return row?.cost ?? 0
}

/** In USD. Reads the workflow's entries since then: chats keep no sum of their own. */
export async function getChatCost(
  sql: Sql,
  { workflowId, workspaceId }: Pick<LogRow, 'workflowId' | 'workspaceId'>,
  since: number,
): Promise<number> {
  const row = await sql.get<{ cost: number }>(selectChatCost, workflowId, workspaceId, sequenceAt(since))
  if (!row) throw unknownWorkflow({ workflowId, workspaceId })
  return row.cost
}

const selectChatCost = `
  SELECT (SELECT coalesce(sum(l.cost_total), 0) FROM millrace.logs l
          WHERE l.workflow = f.number AND l.sequence >= $3::bigint AND l.trigger = ${triggers.indexOf('chat')}) AS cost
  FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
  WHERE f.id = $1 AND w.id = $2`

async function addUsage(sql: Sql, rows: readonly LogRow[]): Promise<void> {
  if (rows.length === 0) return
  const costs = rows.map(({ workspaceId, endedAt, costTotal }) => ({
    workspaceId,
    period: billingPeriodOf(endedAt),
    cost: costTotal,
  }))
  await Promise.all([sql.run(addCosts, rowsOf(costs)), addModelUsage(sql, rows)])
}

// Sorted, so that two groups that add to the same accounts wait for each other in one direction only.
const addCosts = `
  INSERT INTO millrace.usage AS u (user_id, period_start, cost)
  SELECT w.owner_id, r.period, sum(r.cost)
  FROM json_to_recordset($1::text::json) AS r ("workspaceId" text, period bigint, cost double precision)
    JOIN millrace.workspaces w ON w.id = r."workspaceId"
  GROUP BY w.owner_id, r.period ORDER BY w.owner_id, r.period
  ON CONFLICT (user_id, period_start) DO UPDATE SET cost = u.cost + excluded.cost`
