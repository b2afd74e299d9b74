import { sequenceAt } from '../../../domain/ids.ts'
import type { LogRow } from '../../../domain/run/log.ts'
import type { LogWrite } from '../../../domain/run/write.ts'
import { unknownWorkflow } from '../../errors/unknown-workflow.ts'
import type { LogDetailRow } from '../../run-store.ts'
import { triggers } from '../../stored-values.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { isRefusedRow } from '../failures.ts'
import { factColumns, factsOf, noteColumns, type SqlFacts } from '../logs/entry-rows.ts'
import { insertOf } from './log-inserts.ts'

/**
 * Writes the entries of one group and all that belongs to them, in one statement that is a transaction of its own.
 * False when PostgreSQL refused an entry: then nothing was written, and `appendLogs` takes care of it.
 */
export async function appendNewLogs(database: Sql, logs: readonly LogWrite[]): Promise<boolean> {
  const { text, values } = insertOf('new', rowsIn(logs), database.owner)
  try {
    await database.run(text, ...values)
    return true
  } catch (error) {
    if (isRefusedRow(error)) return false
    throw error
  }
}

/**
 * The same as a part of a transaction. An entry that is there already stays as it is, and its cost is not added again:
 * after a lost connection, it is unknown whether a group was committed.
 */
export async function appendLogs(sql: Sql, logs: readonly LogWrite[]): Promise<void> {
  if (logs.length === 0) return
  const rows = rowsIn(logs)
  const { text, values } = insertOf('missing', rows, sql.owner)
  const inserted = await sql.all<{ sequence: number }>(text, ...values)
  if (inserted.length === rows.length) return
  const known = new Set(inserted.map(({ sequence }) => sequence))
  const missing = rows.filter(({ sequence }) => !known.has(sequence))
  await assertPresent(sql, missing)
}

const rowsIn = (logs: readonly LogWrite[]) => logs.map(({ row }) => row)

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
       (SELECT value FROM millrace.marks WHERE name = 'deleted'),
       (SELECT max(sequence) FROM millrace.pause_events), (SELECT max(sequence) FROM millrace.alert_firings),
       (SELECT max(sequence) FROM millrace.event_runs), 0) AS last`,
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
