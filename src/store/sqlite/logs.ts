import { billingPeriodOf } from '../../domain/cost.ts'
import { AppError } from '../../domain/errors.ts'
import type { LogRow } from '../../domain/log.ts'
import type { LogDetailRow, LogListRow, LogQuery } from '../store.ts'
import type { Sql } from './connection.ts'
import { executionKey, logDetailOf, logDetailValues, logOf, logValues, type SqlLog, type SqlLogDetail } from './rows.ts'

const insertLog = `
  INSERT INTO logs (workspace, sequence, workflow, execution_id, version, level, trigger, started_at, ended_at,
    duration_ms, cost_total)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const insertLogDetail = `
  INSERT INTO log_details (sequence, workspace, encoding, cost, final_output, trace_spans)
  VALUES (?, ?, ?, ?, ?, ?)`

/** The hot path: one group of finished runs. */
export function appendLogs(sql: Sql, rows: readonly LogRow[]): void {
  // A group holds many runs of few workflows, and a row that names an unknown one fails the group.
  const numbers = new Map<string, WorkflowNumbers>()
  for (const row of rows) {
    let known = numbers.get(row.workflowId)
    if (known === undefined) {
      known = numbersOf(sql, row.workflowId)
      numbers.set(row.workflowId, known)
    }
    if (known.workspaceId !== row.workspaceId) {
      throw new AppError('NOT_FOUND', `There is no workflow ${row.workflowId} in workspace ${row.workspaceId}`)
    }
    sql.run(insertLog, ...logValues(row, known.workspace, known.workflow))
    sql.run(insertLogDetail, ...logDetailValues(row, known.workspace))
    if (row.costTotal > 0) addUsage(sql, known.workspace, row)
  }
}

/** 0 when nothing is recorded. */
export function lastSequence(sql: Sql): number {
  return sql.get<{ last: number | null }>('SELECT max(sequence) AS last FROM log_details')?.last ?? 0
}

const selectLogs = `
  SELECT l.sequence, l.execution_id, f.id AS workflow_id, w.id AS workspace_id, l.version, l.level, l.trigger,
    l.started_at, l.ended_at, l.duration_ms, l.cost_total
  FROM logs l JOIN workflows f ON f.number = l.workflow JOIN workspaces w ON w.number = l.workspace`

const pages = {
  asc: `${selectLogs} WHERE w.id = ? AND l.sequence > ? ORDER BY l.sequence ASC LIMIT ?`,
  desc: `${selectLogs} WHERE w.id = ? AND l.sequence < ? ORDER BY l.sequence DESC LIMIT ?`,
}

export function queryLogs(sql: Sql, query: LogQuery): LogListRow[] {
  const after = query.after ?? (query.order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER)
  return sql.all<SqlLog>(pages[query.order], query.workspaceId, after, query.limit).map(logOf)
}

// CROSS JOIN keeps the order of the tables: from the one row to its names.
const selectDetail = `
  SELECT l.sequence, l.execution_id, f.id AS workflow_id, w.id AS workspace_id, l.version, l.level, l.trigger,
    l.started_at, l.ended_at, l.duration_ms, l.cost_total, d.encoding, d.cost, d.final_output, d.trace_spans,
    f.name AS workflow_name, f.description AS workflow_description`

const selectBySequence = `${selectDetail}
  FROM log_details d CROSS JOIN logs l ON l.workspace = d.workspace AND l.sequence = d.sequence
    CROSS JOIN workflows f ON f.number = l.workflow CROSS JOIN workspaces w ON w.number = l.workspace
  WHERE d.sequence = ?`

const selectByExecution = `${selectDetail}
  FROM logs l CROSS JOIN log_details d ON d.sequence = l.sequence
    CROSS JOIN workflows f ON f.number = l.workflow CROSS JOIN workspaces w ON w.number = l.workspace
  WHERE l.execution_id = ?`

export function getLog(sql: Sql, sequence: number): LogDetailRow | undefined {
  const row = sql.get<SqlLogDetail>(selectBySequence, sequence)
  return row && logDetailOf(row)
}

export function getExecution(sql: Sql, executionId: string): LogDetailRow | undefined {
  const row = sql.get<SqlLogDetail>(selectByExecution, executionKey(executionId))
  return row && logDetailOf(row)
}

/** In USD. */
export function getUsage(sql: Sql, userId: string, periodStart: number): number {
  return (
    sql.get<{ cost: number }>('SELECT cost FROM usage WHERE user_id = ? AND period_start = ?', userId, periodStart)
      ?.cost ?? 0
  )
}

type WorkflowNumbers = { workflow: number; workspace: number; workspaceId: string }

/** Also of a deleted workflow: its last runs may end after it. */
function numbersOf(sql: Sql, workflowId: string): WorkflowNumbers {
  const numbers = sql.get<WorkflowNumbers>(
    `SELECT f.number AS workflow, f.workspace, w.id AS workspaceId
     FROM workflows f JOIN workspaces w ON w.number = f.workspace WHERE f.id = ?`,
    workflowId,
  )
  if (!numbers) throw new AppError('NOT_FOUND', `There is no workflow ${workflowId}`)
  return numbers
}

function addUsage(sql: Sql, workspace: number, row: LogRow): void {
  sql.run(
    `INSERT INTO usage (user_id, period_start, cost) SELECT owner_id, ?, ? FROM workspaces WHERE number = ?
     ON CONFLICT DO UPDATE SET cost = cost + excluded.cost`,
    billingPeriodOf(row.endedAt),
    row.costTotal,
    workspace,
  )
}
