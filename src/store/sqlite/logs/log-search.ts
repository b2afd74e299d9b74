import { sequenceAt } from '../../../domain/ids.ts'
import type { LogPosition, LogQuery } from '../../log-query.ts'
import type { Sql } from '../connection.ts'
import { executionKey, factColumns, type SqlFacts } from '../tables/rows.ts'
import { compileFilter, type SqlFilter } from './log-filter.ts'
import { type Range, type ScanRange, ZoneMapWalk } from './zone-map-walk.ts'
import { zoneRows } from './zone-maps.ts'

/** The rows a search found, where it stopped, and why. */
export type Found = { rows: SqlRow[]; position: LogPosition | null; end: 'limit' | 'bound' | 'last' }

export type SqlRow = SqlFacts & { workflow: number }

/**
 * The limits of one search with a filter. Beyond them it returns what it has found and where it stopped. The time is
 * limited because others wait for the thread, and reading a zone takes 0.05 ms on one machine and more on another. The
 * rows are limited so that the search ends whatever the clock does. The minimum ensures progress.
 */
export const searchMsMax = 4
export const rowsReadMin = 8 * zoneRows
export const rowsReadMax = 128 * zoneRows

/**
 * Searches one workspace's entries in the order of recording, in either direction. With a filter it reads one scan
 * range after the other (zones that may contain something, and rows that belong to no zone yet). The filter is part of
 * the SQL, so only admitted rows become objects.
 *
 * Sequences are committed in rising order (`appendLogs` refuses others). So a reader that has seen everything up to the
 * newest entry has missed nothing and continues after it, also when the filter admitted no entry.
 */
export function searchLogs(sql: Sql, workspace: number, query: LogQuery, monotonic: () => number): Found {
  const { order, limit, after, filter } = query
  const endAt = monotonic() + searchMsMax
  const isRising = order === 'asc'
  const last = (rows: SqlRow[]): Found => {
    const newest = isRising ? sql.get<{ sequence: number }>(selectNewest, workspace)?.sequence : undefined
    return { rows, position: newest === undefined ? (after ?? null) : [newest], end: 'last' }
  }
  const compiled = compileFilter(sql, workspace, filter)
  if (!compiled) return last([])
  const scanRanges = scanRangesOf(sql, workspace, query, compiled)
  const text = selectRows(compiled, order)
  const values = compiled.conditions.flatMap((condition) => condition.values)
  // Newest first, one more row than the page holds shows whether there is another page.
  const wanted = isRising ? limit : limit + 1
  const rows: SqlRow[] = []
  let entries = 0
  let position: LogPosition | null = null
  for (const scanRange of scanRanges) {
    sql.yieldIfDue?.()
    const isEnough = entries >= rowsReadMax || (entries >= rowsReadMin && monotonic() >= endAt)
    if (isEnough) return { rows: rows.slice(0, limit), position, end: 'bound' }
    rows.push(...sql.all<SqlRow>(text, workspace, scanRange.from, scanRange.to, ...values, wanted - rows.length))
    if (rows.length === wanted) {
      const latest = rows[limit - 1]
      return { rows: rows.slice(0, limit), position: latest ? [latest.sequence] : null, end: 'limit' }
    }
    entries += scanRange.entries
    position = [isRising ? scanRange.to : scanRange.from]
  }
  return last(rows)
}

/** The scan ranges that may contain entries of a query, in its order. */
export function scanRangesOf(
  sql: Sql,
  workspace: number,
  { order, after: position, filter }: Pick<LogQuery, 'order' | 'after' | 'filter'>,
  compiled: SqlFilter,
): Iterable<ScanRange> {
  const after = position && startAfter(position, order)
  const range: Range =
    after === undefined
      ? { from: 0, to: Number.MAX_SAFE_INTEGER }
      : order === 'asc'
        ? { from: after + 1, to: Number.MAX_SAFE_INTEGER }
        : { from: 0, to: after - 1 }
  if (filter.executionId !== undefined) {
    const found = sql.get<{ sequence: number }>(selectExecution, executionKey(filter.executionId), workspace)
    const isInside = found && found.sequence >= range.from && found.sequence <= range.to
    return isInside ? [{ from: found.sequence, to: found.sequence, entries: 1 }] : []
  }
  // Without a filter the page is simply the next rows.
  if (compiled.conditions.length === 0) return [{ ...range, entries: 0 }]
  return new ZoneMapWalk(sql, workspace, order, compiled).scanRanges(range)
}

/**
 * A position of PostgreSQL has two numbers, because there readers follow the order of commits. Entries with lower
 * sequences may come after it, so the reader gets the last minute before it again, and misses none.
 */
function startAfter(position: LogPosition, order: 'asc' | 'desc'): number {
  const sequence = position.at(-1)!
  return order === 'asc' && position.length > 1 ? Math.max(0, sequence - minute) : sequence
}

const minute = sequenceAt(60_000) - sequenceAt(0)

function selectRows({ conditions }: SqlFilter, order: 'asc' | 'desc'): string {
  const admitted = conditions.map(({ row }) => ` AND ${row}`).join('')
  return `SELECT ${factColumns}, workflow FROM logs
    WHERE workspace = ? AND sequence BETWEEN ? AND ?${admitted} ORDER BY sequence ${order} LIMIT ?`
}

const selectExecution = 'SELECT sequence FROM logs WHERE execution_id = ? AND workspace = ?'
const selectNewest = 'SELECT sequence FROM logs WHERE workspace = ? ORDER BY sequence DESC LIMIT 1'
