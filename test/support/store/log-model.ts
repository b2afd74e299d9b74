import { logIdOf, sequenceOf } from '../../../src/domain/ids.ts'
import type { LogRow, RunStatus } from '../../../src/domain/run/log.ts'
import { searchable } from '../../../src/domain/text/searchable.ts'
import type { LogFilter, LogPage, LogQuery } from '../../../src/store/log-query.ts'
import type { Store } from '../../../src/store/store.ts'

/** A query without a filter, except the given members. */
export function logQuery(workspaceId: string, more: Partial<Omit<LogQuery, 'workspaceId'>> = {}): LogQuery {
  const show = { details: false, finalOutput: false, traceSpans: false, failure: false }
  return { workspaceId, filter: logFilter(), order: 'asc', limit: 1_000, after: undefined, show, ...more }
}

export function logFilter(more: Partial<LogFilter> = {}): LogFilter {
  return {
    ...{ workflowIds: undefined, folderIds: undefined, triggers: undefined, level: undefined, model: undefined },
    ...{ startDate: undefined, endDate: undefined, executionId: undefined, minCost: undefined, maxCost: undefined },
    ...{ minDurationMs: undefined, maxDurationMs: undefined },
    ...{ statuses: undefined, search: undefined, labels: undefined },
    ...more,
  }
}

/** A parsed entry of a list. */
export type ParsedEntry = { id: string; executionId: string } & Record<string, unknown>

export function entriesOf({ entries, count }: LogPage): ParsedEntry[] {
  const parsed = JSON.parse(`[${entries}]`) as ParsedEntry[]
  if (parsed.length !== count) throw new Error(`The page reports ${count} entries but contains ${parsed.length}`)
  return parsed
}

/** The list form of a row, written from the interface's table, independently of the code under test. */
export function listForm(row: LogRow): ParsedEntry {
  return {
    id: logIdOf(row.sequence),
    workflowId: row.workflowId,
    executionId: row.executionId,
    level: row.level,
    trigger: row.trigger,
    startedAt: new Date(row.startedAt).toISOString(),
    endedAt: new Date(row.endedAt).toISOString(),
    totalDurationMs: row.durationMs,
    pausedMs: row.pausedMs ?? null,
    cost: { total: row.costTotal },
    files: null,
    version: row.version > 0 ? row.version : null,
    versionName: null,
    status: statusOf(row),
    partial: row.partial ?? false,
    labels: row.labels ?? {},
    source: row.source ?? null,
  }
}

export function statusOf({ level, cancelled }: LogRow): RunStatus {
  if (level === 'info') return 'success'
  return cancelled ? 'cancelled' : 'error'
}

/** Whether a search finds a row. The workflows of these tests have names that equal their IDs. */
function isFound(search: string, { failure, labels = {}, executionId, workflowId, sequence }: LogRow): boolean {
  const texts = [failure?.message, failure?.code, failure?.blockName, ...Object.entries(labels).flat(), workflowId]
  const wanted = searchable(search)
  const isInId = /^[0-9a-f-]+$/.test(wanted) && executionId.replaceAll('-', '').includes(wanted.replaceAll('-', ''))
  return isInId || logIdOf(sequence) === wanted || texts.some((text) => searchable(text ?? '').includes(wanted))
}

/** Whether a filter admits a row. `folderIds`: the folders of each workflow, including parent folders. */
export function admits(filter: LogFilter, row: LogRow, folderIds: ReadonlyMap<string, readonly string[]>): boolean {
  const from = (value: number, least: number | undefined) => least === undefined || value >= least
  const to = (value: number, most: number | undefined) => most === undefined || value <= most
  return (
    (filter.workflowIds?.includes(row.workflowId) ?? true) &&
    (filter.folderIds?.some((id) => folderIds.get(row.workflowId)?.includes(id)) ?? true) &&
    (filter.triggers?.includes(row.trigger) ?? true) &&
    (filter.statuses?.includes(statusOf(row)) ?? true) &&
    (filter.labels?.every(([name, text]) => row.labels?.[name] === text) ?? true) &&
    (filter.search === undefined || isFound(filter.search, row)) &&
    (filter.level === undefined || filter.level === row.level) &&
    (filter.executionId === undefined || filter.executionId === row.executionId) &&
    (filter.model === undefined || row.models.includes(filter.model)) &&
    from(row.startedAt, filter.startDate) &&
    to(row.startedAt, filter.endDate) &&
    from(row.durationMs, filter.minDurationMs) &&
    to(row.durationMs, filter.maxDurationMs) &&
    from(row.costTotal, filter.minCost) &&
    to(row.costTotal, filter.maxCost)
  )
}

/** Reads all pages; returns the sequences in order and the number of pages. */
export async function walkPages(
  store: Pick<Store, 'queryLogs'>,
  query: LogQuery,
): Promise<{ sequences: number[]; pages: LogPage[] }> {
  const sequences: number[] = []
  const pages: LogPage[] = []
  for (let after = query.after; ; ) {
    const page = await store.queryLogs({ ...query, after })
    pages.push(page)
    sequences.push(...entriesOf(page).map(({ id }) => sequenceOf(id) ?? Number.NaN))
    if (page.end === 'last') return { sequences, pages }
    if (page.position === null || page.position === after)
      throw new Error('A page that is not the last has no next position')
    after = page.position
  }
}
