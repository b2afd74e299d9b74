import type { LogQuery } from '../log-query.ts'
import type { Sql } from './connection.ts'
import { compileFilter, type SqlFilter } from './log-filter.ts'
import { executionKey, factColumns, type SqlFacts } from './rows.ts'
import { type Range, type Stretch, ZoneWalk } from './zone-walk.ts'
import { zoneRows } from './zones.ts'

/** What a search found, where it stopped, and why. */
export type Found = { rows: SqlRow[]; position: number | null; end: 'limit' | 'bound' | 'last' }

export type SqlRow = SqlFacts & { workflow: number }

/**
 * What one search does when it filters: beyond these it answers with what it has found and where it stopped. Time, because
 * others wait for the thread and the caller for a page, and reading a zone takes 0.05 ms on one machine and more on
 * another; rows, so that there is an end to it whatever the clock does. The least makes sure that it gets on.
 */
export const searchMsMax = 4
export const rowsReadMin = 8 * zoneRows
export const rowsReadMax = 128 * zoneRows

/**
 * Searches one workspace's entries along their order of recording, in either direction. A search with a filter goes from
 * stretch to stretch (zones that may hold something, then the rows that belong to none yet) and reads each with the
 * filter in SQL, so that only rows that are admitted become objects.
 *
 * Sequences are committed in rising order and never below one that is there (`appendLogs` refuses it), so whoever has
 * seen all up to the newest one has missed nothing, and goes on behind it, also when the filter admitted none of it.
 */
export function searchLogs(sql: Sql, workspace: number, query: LogQuery, monotonic: () => number): Found {
  const { order, limit, after, filter } = query
  const endAt = monotonic() + searchMsMax
  const isRising = order === 'asc'
  const last = (rows: SqlRow[]): Found => {
    const newest = isRising ? sql.get<{ sequence: number }>(selectNewest, workspace)?.sequence : undefined
    return { rows, position: newest ?? after ?? null, end: 'last' }
  }
  const compiled = compileFilter(sql, workspace, filter)
  if (!compiled) return last([])
  const stretches = stretchesOf(sql, workspace, query, compiled)
  const text = selectRows(compiled, order)
  const values = compiled.conditions.flatMap((condition) => condition.values)
  // Newest first, one row beyond the page tells whether there is another page.
  const wanted = isRising ? limit : limit + 1
  const rows: SqlRow[] = []
  let entries = 0
  let position: number | null = null
  for (const stretch of stretches) {
    sql.breathe?.()
    const isEnough = entries >= rowsReadMax || (entries >= rowsReadMin && monotonic() >= endAt)
    if (isEnough) return { rows: rows.slice(0, limit), position, end: 'bound' }
    rows.push(...sql.all<SqlRow>(text, workspace, stretch.from, stretch.to, ...values, wanted - rows.length))
    if (rows.length === wanted) {
      return { rows: rows.slice(0, limit), position: rows[limit - 1]?.sequence ?? null, end: 'limit' }
    }
    entries += stretch.entries
    position = isRising ? stretch.to : stretch.from
  }
  return last(rows)
}

/** Where entries that a query may admit are, along its order. */
export function stretchesOf(
  sql: Sql,
  workspace: number,
  { order, after, filter }: Pick<LogQuery, 'order' | 'after' | 'filter'>,
  compiled: SqlFilter,
): Iterable<Stretch> {
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
  // Nothing to filter by: the page is the next rows, wherever they are.
  if (compiled.conditions.length === 0) return [{ ...range, entries: 0 }]
  return new ZoneWalk(sql, workspace, order, compiled).stretches(range)
}

function selectRows({ conditions }: SqlFilter, order: 'asc' | 'desc'): string {
  const admitted = conditions.map(({ row }) => ` AND ${row}`).join('')
  return `SELECT ${factColumns}, workflow FROM logs
    WHERE workspace = ? AND sequence BETWEEN ? AND ?${admitted} ORDER BY sequence ${order} LIMIT ?`
}

const selectExecution = 'SELECT sequence FROM logs WHERE execution_id = ? AND workspace = ?'
const selectNewest = 'SELECT sequence FROM logs WHERE workspace = ? ORDER BY sequence DESC LIMIT 1'
