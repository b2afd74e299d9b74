import type { Sql } from '../connection.ts'
import { statusColumn } from '../tables/rows.ts'
import { countHours } from './workflow-overviews.ts'

/**
 * Rows per zone. Reading them with a filter takes 0.05 ms, summarising them in a zone map 0.5 ms. Smaller zones let a
 * filter find single entries with less reading; larger zones let it skip more rows at once.
 */
export const zoneRows = 512

const zonesGoneMin = 8

/** Columns whose values are indexed by zone, with their numbers on disk (`facet` in the schema). */
export const indexedColumns = { workflow: 0, models: 1 } as const

/**
 * Summarises rows in the background, one zone per step, because runs that end meanwhile wait for the step. Rows never
 * change, so a zone map stays correct. After some of its rows were deleted it admits too much, which is harmless.
 */
export class ZoneMapMaker {
  #checkedTo = 0

  /**
   * One step: for one workspace, or for the next few of all. False when there is nothing more to do: the remaining rows
   * are fewer than a zone has, or all workspaces have been checked.
   */
  step(sql: Sql, workspaceId: string | undefined): boolean {
    if (workspaceId !== undefined) {
      const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)
      return workspace !== undefined && makeZoneMap(sql, workspace.number)
    }
    const workspaces = sql.all<{ number: number }>(selectWorkspaces, this.#checkedTo)
    for (const { number } of workspaces) {
      if (makeZoneMap(sql, number)) return true
      this.#checkedTo = number
    }
    return workspaces.length > 0
  }
}

/** At 20 µs each. */
const selectWorkspaces = 'SELECT number FROM workspaces WHERE number > ? ORDER BY number LIMIT 50'

function makeZoneMap(sql: Sql, workspace: number): boolean {
  const zonedTo = sql.get<{ last_sequence: number }>(selectLastZone, workspace)?.last_sequence ?? 0
  const end = sql.get<{ sequence: number }>(selectEnd, workspace, zonedTo)
  if (!end) return false
  const zone = sql.get<{ first_sequence: number }>(insertZone, workspace, zonedTo, end.sequence)!
  for (const [column, number] of Object.entries(indexedColumns)) {
    sql.run(insertIndexedValues(column), number, zone.first_sequence, workspace, zone.first_sequence, end.sequence)
  }
  countHours(sql, workspace, zone.first_sequence, end.sequence)
  return true
}

const selectLastZone = 'SELECT last_sequence FROM log_zones WHERE workspace = ? ORDER BY first_sequence DESC LIMIT 1'
const selectEnd = `
  SELECT sequence FROM logs WHERE workspace = ? AND sequence > ? ORDER BY sequence LIMIT 1 OFFSET ${zoneRows - 1}`
const insertZone = `
  INSERT INTO log_zones (workspace, first_sequence, last_sequence, entries, levels, statuses, triggers, started_min, started_max,
    duration_min, duration_max, cost_min, cost_max)
  SELECT workspace, min(sequence), max(sequence), count(*), sum(DISTINCT 1 << level),
    sum(DISTINCT 1 << ${statusColumn}), sum(DISTINCT 1 << trigger),
    min(started_at), max(started_at), min(duration_ms), max(duration_ms), min(cost_total), max(cost_total)
  FROM logs WHERE workspace = ? AND sequence > ? AND sequence <= ?
  RETURNING first_sequence`

/** Whether enough zones have lost all their rows: deleting one zone map takes as long as deleting several. */
export function hasGoneZoneMaps(sql: Sql, workspace: number, goneTo: number): boolean {
  return sql.get(selectGone, workspace, goneTo, goneTo) !== undefined
}

/**
 * Deletes the zone maps of a workspace whose rows are all gone. Indexed values are ordered by value, so this goes from
 * value to value instead of reading all of them.
 */
export function deleteZoneMaps(sql: Sql, workspace: number, goneTo: number): void {
  if (sql.run(deleteZone, workspace, goneTo, goneTo) === 0) return
  const kept = sql.get<{ first_sequence: number }>(selectFirstZone, workspace)?.first_sequence ?? goneTo + 1
  for (const column of Object.values(indexedColumns)) {
    for (const { value } of sql.all<{ value: number }>(selectValues, workspace, column)) {
      sql.run(deleteIndexedValues, workspace, column, value, kept)
    }
  }
}

const selectGone = `
  SELECT 1 FROM log_zones WHERE workspace = ? AND first_sequence <= ? AND last_sequence <= ?
  ORDER BY first_sequence LIMIT 1 OFFSET ${zonesGoneMin - 1}`
const deleteZone = 'DELETE FROM log_zones WHERE workspace = ? AND first_sequence <= ? AND last_sequence <= ?'
const selectFirstZone = 'SELECT first_sequence FROM log_zones WHERE workspace = ? ORDER BY first_sequence LIMIT 1'
const deleteIndexedValues =
  'DELETE FROM log_zone_facets WHERE workspace = ? AND facet = ? AND value = ? AND first_sequence < ?'
const selectValues = `
  WITH RECURSIVE found (value) AS (
    SELECT min(value) FROM log_zone_facets WHERE workspace = ?1 AND facet = ?2
    UNION ALL
    SELECT (SELECT min(value) FROM log_zone_facets WHERE workspace = ?1 AND facet = ?2 AND value > found.value)
    FROM found WHERE found.value NOT NULL
  )
  SELECT value FROM found WHERE value NOT NULL`

function insertIndexedValues(column: string): string {
  return `
  INSERT INTO log_zone_facets (workspace, facet, value, first_sequence)
  SELECT DISTINCT workspace, ?, ${column}, ? FROM logs
  WHERE workspace = ? AND sequence BETWEEN ? AND ? AND ${column} > 0`
}
