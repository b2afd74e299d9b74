import { sequenceAt } from '../../../domain/ids.ts'
import { billingPeriodOf } from '../../../domain/run/cost.ts'
import { countsAsUsage, type LogRow } from '../../../domain/run/log.ts'
import { unknownWorkflow } from '../../errors/unknown-workflow.ts'
import type { LogDetailRow } from '../../run-store.ts'
import { triggers } from '../../stored-values.ts'
import type { Sql, Value, WorkflowNumbers } from '../connection.ts'
import { chunksOf, chunkValues, insertChunk, type Long } from '../logs/chunk.ts'
import { LongTexts } from '../logs/long-texts.ts'
import { findLogNotes, insertLogNotes, VersionNames } from '../tables/log-notes.ts'
import { executionKey, factColumns, logDetailOf, logValues, type SqlLogDetail } from '../tables/rows.ts'
import { findRunFiles, insertRunFiles } from '../tables/run-files.ts'
import { insertWebhooks } from './deliveries.ts'
import { RecipientSets } from './fan-out-records.ts'
import { addModelUsage } from './model-usage.ts'

const insertLogs = (rows: number) => `
  INSERT INTO logs (workspace, sequence, workflow, execution_id, version, level, trigger, created_at, started_at,
    ended_at, duration_ms, cost_total, models, facts, paused_ms)
  VALUES ${Array<string>(rows).fill('(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`

/** Inserting several rows in one statement saves a fifth of the time per row. More than eight save no more. */
const rowsAtOnce = 8
const insertOne = insertLogs(1)
const insertSeveral = insertLogs(rowsAtOnce)

/** One group of finished runs. */
export function appendLogs(sql: Sql, rows: readonly LogRow[]): void {
  checkOrder(sql, rows)
  const workspaces: number[] = []
  const recipientSets = new RecipientSets(sql)
  const usage = new UsageOfGroup()
  const values: Value[][] = []
  for (const row of rows) {
    const { workspace, workflow } = numbersOf(sql, row)
    if (row.webhooks) insertWebhooks(sql, recipientSets, workflow, row.sequence, row.webhooks, row.endedAt)
    values.push(logValues(row, { workspace, workflow, modelSet: modelSetOf(sql, row.models) }))
    if (countsAsUsage(row)) usage.add(sql, workspace, row)
    if (row.files) insertRunFiles(sql, workspace, row.sequence, row.files)
    if (row.failure || row.labels) insertLogNotes(sql, workspace, row)
    workspaces.push(workspace)
  }
  insertRows(sql, values)
  usage.write(sql)
  for (const chunk of chunksOf(rows, workspaces)) sql.run(insertChunk, ...chunkValues(chunk))
}

/** Each row has the values of `logValues`. */
export function insertRows(sql: Sql, rows: readonly Value[][]): void {
  const rest = rows.length - (rows.length % rowsAtOnce)
  for (let at = 0; at < rest; at += rowsAtOnce) sql.run(insertSeveral, ...rows.slice(at, at + rowsAtOnce).flat())
  for (const row of rows.slice(rest)) sql.run(insertOne, ...row)
}

/** 0 when nothing was ever recorded. Counts deleted entries too, so that no sequence is used twice. */
export function lastSequence(sql: Sql): number {
  const last = sql.get<{ last_sequence: number }>(
    'SELECT last_sequence FROM log_chunks ORDER BY first_sequence DESC LIMIT 1',
  )
  return last?.last_sequence ?? deletedTo(sql)
}

/** The sequence up to which entries were deleted; 0 when none were. */
export function deletedTo(sql: Sql): number {
  return sql.get<{ value: number }>("SELECT value FROM marks WHERE name = 'deleted'")?.value ?? 0
}

// CROSS JOIN makes SQLite read the tables in this order: first the one row, then its names.
const selectDetail = `
  SELECT ${factColumns}, l.workspace, l.workflow, l.created_at AS createdAt, f.id AS workflowId, w.id AS workspaceId,
    f.name AS workflowName, f.description AS workflowDescription
  FROM logs l CROSS JOIN workflows f ON f.number = l.workflow CROSS JOIN workspaces w ON w.number = l.workspace`

const selectBySequence = `${selectDetail} WHERE l.workspace = ? AND l.sequence = ?`
const selectByExecution = `${selectDetail} WHERE l.execution_id = ?`

export function getLog(sql: Sql, sequence: number): LogDetailRow | undefined {
  const long = new LongTexts(sql).find(sequence)
  const row = long && sql.get<SqlEntry>(selectBySequence, long.workspace, sequence)
  return row && detailOf(sql, row, long)
}

export function getExecution(sql: Sql, executionId: string): LogDetailRow | undefined {
  const row = sql.get<SqlEntry>(selectByExecution, executionKey(executionId))
  const long = row && new LongTexts(sql).find(row.sequence)
  return row && long && detailOf(sql, row, long)
}

type SqlEntry = SqlLogDetail & { workspace: number; workflow: number }

function detailOf(sql: Sql, row: SqlEntry, long: Long): LogDetailRow {
  const { workspace, workflow, sequence, version } = row
  const { labels } = findLogNotes(sql, workspace, sequence)
  const notes = { labels, versionName: new VersionNames(sql).find(workflow, version) }
  return logDetailOf(row, { long, files: findRunFiles(sql, workspace, sequence), notes })
}

/** In USD. */
export function getUsage(sql: Sql, userId: string, periodStart: number): number {
  return (
    sql.get<{ cost: number }>('SELECT cost FROM usage WHERE user_id = ? AND period_start = ?', userId, periodStart)
      ?.cost ?? 0
  )
}

/** In USD. Reads the workspace's entries since then: chats keep no sum of their own. */
export function getChatCost(sql: Sql, chat: Pick<LogRow, 'workflowId' | 'workspaceId'>, since: number): number {
  const { workspace, workflow } = numbersOf(sql, chat)
  const range = [workspace, sequenceAt(since), workflow, triggers.indexOf('chat')] as const
  return sql.get<{ cost: number }>(selectCost, ...range)?.cost ?? 0
}

const selectCost =
  'SELECT total(cost_total) AS cost FROM logs WHERE workspace = ? AND sequence >= ? AND workflow = ? AND trigger = ?'

/** Chunks are found by their first sequence, so their ranges must not overlap. */
function checkOrder(sql: Sql, rows: readonly LogRow[]): void {
  let last = lastSequence(sql)
  for (const { sequence } of rows) {
    if (sequence <= last) throw new Error(`Log sequence ${sequence} comes after ${last}: sequences must rise`)
    last = sequence
  }
}

/** Also finds deleted workflows, because their last runs may end later. */
export function numbersOf(sql: Sql, row: Pick<LogRow, 'workflowId' | 'workspaceId'>): WorkflowNumbers {
  const numbers = sql.workflows.get(row.workflowId) ?? readNumbers(sql, row.workflowId)
  if (numbers?.workspaceId === row.workspaceId) return numbers
  throw unknownWorkflow(row)
}

function readNumbers(sql: Sql, workflowId: string): WorkflowNumbers | undefined {
  const numbers = sql.get<WorkflowNumbers>(
    `SELECT f.number AS workflow, f.workspace, w.id AS workspaceId
     FROM workflows f JOIN workspaces w ON w.number = f.workspace WHERE f.id = ?`,
    workflowId,
  )
  if (!numbers) return undefined
  if (sql.workflows.size >= workflowsMax) sql.workflows.clear()
  sql.workflows.set(workflowId, numbers)
  return numbers
}

const workflowsMax = 10_000

/** The number of a set of names, assigned on first use. It is not cached, because a transaction may be rolled back. */
export function modelSetOf(sql: Sql, models: readonly string[]): number {
  if (models.length === 0) return 0
  const distinct = [...new Set(models)].sort()
  const names = JSON.stringify(distinct)
  const known = sql.get<{ number: number }>('SELECT number FROM model_sets WHERE names = ?', names)
  if (known) return known.number
  const made = sql.get<{ number: number }>('INSERT INTO model_sets (names) VALUES (?) RETURNING number', names)!
  for (const name of distinct) sql.run('INSERT INTO model_set_names (name, model_set) VALUES (?, ?)', name, made.number)
  return made.number
}

/** The cost of the runs in a group. Usually that is one account in one month, so one changed row. */
class UsageOfGroup {
  readonly #sums: { workspace: number; period: number; cost: number }[] = []

  add(sql: Sql, workspace: number, row: LogRow): void {
    const period = billingPeriodOf(row.endedAt)
    const sum = this.#sums.find((sum) => sum.workspace === workspace && sum.period === period)
    if (sum) sum.cost += row.costTotal
    else this.#sums.push({ workspace, period, cost: row.costTotal })
    addModelUsage(sql, workspace, row)
  }

  write(sql: Sql): void {
    for (const { workspace, period, cost } of this.#sums) sql.run(addUsage, period, cost, workspace)
  }
}

const addUsage = `
  INSERT INTO usage (user_id, period_start, cost) SELECT owner_id, ?, ? FROM workspaces WHERE number = ?
  ON CONFLICT DO UPDATE SET cost = cost + excluded.cost`
