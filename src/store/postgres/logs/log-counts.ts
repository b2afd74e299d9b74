import { runStatuses } from '../../../domain/run/log.ts'
import type { LogCountQuery, LogCounts } from '../../log-query.ts'
import type { Sql } from '../connection.ts'
import { compileFilter } from './log-filter.ts'
import { positionValues, type Source, scanText, sourceOf } from './log-search.ts'

/** The most rows that one part counts. */
export const rowsCountedMax = 100_000

/** Counts entries by the start time of their runs, newest first, with one statement. */
export async function countLogs(sql: Sql, query: LogCountQuery): Promise<LogCounts> {
  const { workspaceId, from, bucketMs, count, before } = query
  const empty = () => Array.from({ length: count }, () => 0)
  const counts: LogCounts = { success: empty(), error: empty(), cancelled: empty(), cost: empty(), position: null }
  const filter = {
    ...query.filter,
    startDate: Math.max(query.filter.startDate ?? from, from),
    endDate: Math.min(query.filter.endDate ?? Number.POSITIVE_INFINITY, from + bucketMs * count - 1),
  }
  const compiled = await compileFilter(sql, workspaceId, filter)
  if (!compiled) return counts
  const source = sourceOf({ order: 'desc', filter }, compiled)
  const after = before === undefined ? undefined : [before]
  const rows = await sql.all<Counted>(
    texts[source.kind],
    ...compiled.values,
    ...(await positionValues(sql, { workspaceId, order: 'desc', after })),
    ...source.values,
    ...[from, bucketMs],
  )
  for (const row of rows) {
    const status = runStatuses[row.status]
    if (row.position !== null && row.entry === rowsCountedMax) counts.position = row.position
    if (status === undefined || row.bucket === null) continue
    counts[status][row.bucket]! += row.entries
    counts.cost[row.bucket]! += row.cost
  }
  return counts
}

/** A row without a bucket counts entries that the filter does not admit. `position`: of the last row that was read. */
type Counted = {
  bucket: number | null
  status: number
  entries: number
  cost: number
  position: number | null
  entry: number | null
}

const selectCounts = (source: Source['kind']) => `
  SELECT CASE WHEN l.admitted THEN ((l.started_at - $23::bigint) / $24::bigint)::integer END AS bucket, l.status,
    count(*) AS entries, sum(l.cost_total) AS cost, max(l.sequence) FILTER (WHERE l."isEnd") AS position,
    max(l.entry) FILTER (WHERE l."isEnd") AS entry
  FROM (${scanText('desc', source, rowsCountedMax)}) l
  GROUP BY 1, 2`

const texts = {
  workspace: selectCounts('workspace'),
  workflow: selectCounts('workflow'),
  execution: selectCounts('execution'),
}
