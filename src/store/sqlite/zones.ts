import type { Sql } from './connection.ts'
import { countHours } from './glance.ts'

/**
 * Rows of a zone. Reading them with a filter takes 0.05 ms, summarising them 0.5 ms. With smaller zones a filter finds
 * single entries with less reading; with larger ones it passes over more at once where there is nothing to be found.
 */
export const zoneRows = 512

const zonesGoneMin = 8

/** What zones are found by beside their summaries: numbers on disk. */
export const facets = { workflow: 0, models: 1 } as const

/**
 * Summarises rows in the background, one zone a step, because runs that end meanwhile wait for the step. Rows are never
 * changed, so a zone is right for ever; when some of its rows are deleted it admits too much, which does no harm.
 */
export class ZoneMaker {
  #lookedTo = 0

  /**
   * One step: for a workspace, or for the next few of all. False when there is nothing more to do: the rows that are left
   * are fewer than a zone has, or all workspaces have been looked at.
   */
  step(sql: Sql, workspaceId: string | undefined): boolean {
    if (workspaceId !== undefined) {
      const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)
      return workspace !== undefined && makeZone(sql, workspace.number)
    }
    const workspaces = sql.all<{ number: number }>(selectWorkspaces, this.#lookedTo)
    for (const { number } of workspaces) {
      if (makeZone(sql, number)) return true
      this.#lookedTo = number
    }
    return workspaces.length > 0
  }
}

/** At 20 µs each. */
const selectWorkspaces = 'SELECT number FROM workspaces WHERE number > ? ORDER BY number LIMIT 50'

function makeZone(sql: Sql, workspace: number): boolean {
  const zonedTo = sql.get<{ last_sequence: number }>(selectLastZone, workspace)?.last_sequence ?? 0
  const end = sql.get<{ sequence: number }>(selectEnd, workspace, zonedTo)
  if (!end) return false
  const zone = sql.get<{ first_sequence: number }>(insertZone, workspace, zonedTo, end.sequence)!
  for (const [column, facet] of Object.entries(facets)) {
    sql.run(insertFacets(column), facet, zone.first_sequence, workspace, zone.first_sequence, end.sequence)
  }
  countHours(sql, workspace, zone.first_sequence, end.sequence)
  return true
}

const selectLastZone = 'SELECT last_sequence FROM log_zones WHERE workspace = ? ORDER BY first_sequence DESC LIMIT 1'
const selectEnd = `
  SELECT sequence FROM logs WHERE workspace = ? AND sequence > ? ORDER BY sequence LIMIT 1 OFFSET ${zoneRows - 1}`
const insertZone = `
  INSERT INTO log_zones (workspace, first_sequence, last_sequence, entries, levels, triggers, started_min, started_max,
    duration_min, duration_max, cost_min, cost_max)
  SELECT workspace, min(sequence), max(sequence), count(*), sum(DISTINCT 1 << level), sum(DISTINCT 1 << trigger),
    min(started_at), max(started_at), min(duration_ms), max(duration_ms), min(cost_total), max(cost_total)
  FROM logs WHERE workspace = ? AND sequence > ? AND sequence <= ?
  RETURNING first_sequence`

/** Whether so many have lost all of their rows that to forget them is worth while: for one alone it takes as long. */
export function hasGoneZones(sql: Sql, workspace: number, goneTo: number): boolean {
  return sql.get(selectGone, workspace, goneTo, goneTo) !== undefined
}

/**
 * Forgets the zones of a workspace whose rows are all gone. Facets are in the order of their values, so it goes from value
 * to value instead of along all of them.
 */
export function deleteZones(sql: Sql, workspace: number, goneTo: number): void {
  if (sql.run(deleteZone, workspace, goneTo, goneTo) === 0) return
  const kept = sql.get<{ first_sequence: number }>(selectFirstZone, workspace)?.first_sequence ?? goneTo + 1
  for (const facet of Object.values(facets)) {
    for (const { value } of sql.all<{ value: number }>(selectValues, workspace, facet)) {
      sql.run(deleteFacets, workspace, facet, value, kept)
    }
  }
}

const selectGone = `
  SELECT 1 FROM log_zones WHERE workspace = ? AND first_sequence <= ? AND last_sequence <= ?
  ORDER BY first_sequence LIMIT 1 OFFSET ${zonesGoneMin - 1}`
const deleteZone = 'DELETE FROM log_zones WHERE workspace = ? AND first_sequence <= ? AND last_sequence <= ?'
const selectFirstZone = 'SELECT first_sequence FROM log_zones WHERE workspace = ? ORDER BY first_sequence LIMIT 1'
const deleteFacets =
  'DELETE FROM log_zone_facets WHERE workspace = ? AND facet = ? AND value = ? AND first_sequence < ?'
const selectValues = `
  WITH RECURSIVE found (value) AS (
    SELECT min(value) FROM log_zone_facets WHERE workspace = ?1 AND facet = ?2
    UNION ALL
    SELECT (SELECT min(value) FROM log_zone_facets WHERE workspace = ?1 AND facet = ?2 AND value > found.value)
    FROM found WHERE found.value NOT NULL
  )
  SELECT value FROM found WHERE value NOT NULL`

function insertFacets(column: string): string {
  return `
  INSERT INTO log_zone_facets (workspace, facet, value, first_sequence)
  SELECT DISTINCT workspace, ?, ${column}, ? FROM logs
  WHERE workspace = ? AND sequence BETWEEN ? AND ? AND ${column} > 0`
}
