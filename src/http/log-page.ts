import { liesIn } from '../domain/folders.ts'
import { isObject } from '../domain/input.ts'
import type { LogListRow, Store } from '../store/store.ts'
import type { Position } from './cursor.ts'
import type { LogFilter, LogRequest } from './log-query.ts'

/** Entries of one page, and where the next one starts: null when there is no need to ask again. */
export type LogPage = { rows: LogListRow[]; next: Position | null }

type LogStore = Pick<Store, 'queryLogs' | 'getLog' | 'listWorkflows'>

/** Rows that one request looks at when it filters: beyond them it answers with what it has, and a cursor. */
export const rowsScannedMax = 10_000
/** The same when each row has to be read whole (the filter `model`). */
export const detailsScannedMax = 500
const batchRows = 1000

/**
 * Reads one page. Newest first, `next` is null on the last page; oldest first, it is there whenever the page has
 * entries, so that a poller can come back with it.
 */
export async function readPage(store: LogStore, request: LogRequest, after: Position | undefined): Promise<LogPage> {
  const { workspaceId, order, limit } = request
  const admits = await compileFilter(store, request)
  // One row beyond the page tells whether there is another page.
  const wanted = limit + 1
  const scanMax = request.filter.model === undefined ? rowsScannedMax : detailsScannedMax
  const rows: LogListRow[] = []
  let position = after
  let scanned = 0
  for (;;) {
    const batchMax = admits === undefined ? wanted : Math.min(batchRows, scanMax - scanned)
    const batch = await store.queryLogs({
      workspaceId,
      order,
      limit: batchMax,
      ...(position === undefined ? {} : { after: position }),
    })
    for (const row of batch) {
      if (admits === undefined || (await admits(row))) rows.push(row)
      if (rows.length === wanted) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.sequence ?? null }
      position = row.sequence
      scanned += 1
    }
    if (batch.length < batchMax) return { rows, next: order === 'asc' && rows.length > 0 ? (position ?? null) : null }
    if (scanned >= scanMax) return { rows, next: position ?? null }
  }
}

type Admits = (row: LogListRow) => boolean | Promise<boolean>

/** Undefined when there is nothing to filter by. */
async function compileFilter(store: LogStore, { workspaceId, filter }: LogRequest): Promise<Admits | undefined> {
  const workflows = await workflowsOf(store, workspaceId, filter)
  const { triggers, level, startDate, endDate, executionId, minDurationMs, maxDurationMs, minCost, maxCost, model } =
    filter
  const tests: (Admits | undefined)[] = [
    workflows && ((row) => workflows.has(row.workflowId)),
    triggers && ((row) => triggers.includes(row.trigger)),
    level && ((row) => row.level === level),
    startDate === undefined ? undefined : (row) => row.startedAt >= startDate,
    endDate === undefined ? undefined : (row) => row.startedAt <= endDate,
    executionId === undefined ? undefined : (row) => row.executionId === executionId,
    minDurationMs === undefined ? undefined : (row) => row.durationMs >= minDurationMs,
    maxDurationMs === undefined ? undefined : (row) => row.durationMs <= maxDurationMs,
    minCost === undefined ? undefined : (row) => row.costTotal >= minCost,
    maxCost === undefined ? undefined : (row) => row.costTotal <= maxCost,
    model === undefined ? undefined : (row) => usedModel(store, row, model),
  ]
  const active = tests.filter((test) => test !== undefined)
  if (active.length === 0) return undefined
  return async (row) => {
    for (const test of active) if (!(await test(row))) return false
    return true
  }
}

/** The workflows that `workflowIds` and `folderIds` leave; undefined when neither is given. */
async function workflowsOf(store: LogStore, workspaceId: string, { workflowIds, folderIds }: LogFilter) {
  if (folderIds === undefined) return workflowIds && new Set(workflowIds)
  const wanted = new Set(folderIds)
  const rows = await store.listWorkflows(workspaceId)
  const inside = rows.filter(({ document }) => document.folder !== undefined && liesIn(document.folder, wanted))
  return new Set(inside.map(({ id }) => id).filter((id) => workflowIds?.includes(id) ?? true))
}

async function usedModel(store: LogStore, { sequence }: LogListRow, model: string): Promise<boolean> {
  const cost: unknown = JSON.parse((await store.getLog(sequence))?.cost ?? 'null')
  return isObject(cost) && isObject(cost['models']) && Object.hasOwn(cost['models'], model)
}
