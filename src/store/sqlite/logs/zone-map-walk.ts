import type { Sql, Value } from '../connection.ts'
import type { IndexedValues, SqlFilter } from './log-filter.ts'
import { zoneRows } from './zone-maps.ts'

/**
 * Lists the scan ranges of one workspace that may contain entries a filter admits, in one direction: the zones whose
 * zone map admits the filter, and blocks of the rows that belong to no zone yet.
 *
 * Skipping a zone takes 0.04 µs (10 million entries have some 20,000), reading one 0.05 ms. Zones that the zone maps
 * admit and zones that contain an indexed value may hardly ever coincide. Then the walk returns some ranges that
 * contain nothing, because finding the next common zone would take longer than reading them.
 */
export class ZoneMapWalk {
  readonly #sql: Sql
  readonly #workspace: number
  readonly #order: 'asc' | 'desc'
  readonly #indexed: readonly IndexedValues[]
  readonly #skipsMax: number
  readonly #selectZone: string
  readonly #values: readonly Value[]

  constructor(sql: Sql, workspace: number, order: 'asc' | 'desc', { conditions, indexed }: SqlFilter) {
    this.#sql = sql
    this.#workspace = workspace
    this.#order = order
    this.#indexed = indexed.filter(({ count }) => count <= indexedValuesMax)
    this.#skipsMax = Math.ceil(seeksMax / this.#indexed.reduce((sum, { count }) => sum + count, 1))
    const zoned = conditions.filter(({ zone }) => zone !== undefined)
    this.#selectZone = selectZone(order, zoned.map(({ zone }) => ` AND ${zone}`).join(''))
    this.#values = zoned.flatMap(({ values }) => values)
  }

  *scanRanges({ from, to }: Range): Generator<ScanRange> {
    const zonedTo = this.#sql.get<Zone>(selectLastZone, this.#workspace)?.last_sequence ?? 0
    const zoned = { from, to: Math.min(to, zonedTo) }
    const behind = { from: Math.max(from, zonedTo + 1), to }
    if (this.#order === 'asc') {
      yield* this.#zones(zoned)
      yield* this.#blocks(behind)
    } else {
      yield* this.#blocks(behind)
      yield* this.#zones(zoned)
    }
  }

  *#zones(range: Range): Generator<ScanRange> {
    if (range.from > range.to) return
    // The zone that contains `from` begins before it.
    const from = this.#sql.get<Zone>(selectZoneAt, this.#workspace, range.from)?.first_sequence ?? range.from
    let rest = { from, to: range.to }
    for (;;) {
      const zone = this.#next(rest)
      if (!zone) return
      const { first_sequence: first, last_sequence: last, entries } = zone
      const scanRange = { from: Math.max(range.from, first), to: Math.min(range.to, last) }
      if (scanRange.from <= scanRange.to) yield { ...scanRange, entries }
      rest = this.#order === 'asc' ? { from: first + 1, to: rest.to } : { from: rest.from, to: first - 1 }
    }
  }

  /**
   * The next zone among those that begin in a range. Each indexed column gives the next zone that contains one of its
   * values, and the zone maps give the next zone they admit. Each of them skips to the farthest zone, until all agree.
   */
  #next({ from, to }: Range): Zone | undefined {
    const rest = { from, to }
    const isRising = this.#order === 'asc'
    for (let skips = 1; rest.from <= rest.to; skips += 1) {
      const common = this.#nextCommonZone(isRising ? rest.from : rest.to)
      if (!common) return undefined
      if (isRising) rest.from = common.at
      else rest.to = common.at
      const zone = this.#sql.get<Zone>(this.#selectZone, this.#workspace, rest.from, rest.to, ...this.#values)
      if (!zone || this.#indexed.length === 0 || skips === this.#skipsMax) return zone
      if (common.agreed && zone.first_sequence === common.at) return zone
      if (isRising) rest.from = zone.first_sequence
      else rest.to = zone.first_sequence
    }
    return undefined
  }

  /**
   * The zone, at `bound` or beyond, before which no zone contains a value of every indexed column. `agreed`: this zone
   * does. Undefined when there is none.
   */
  #nextCommonZone(bound: number): { at: number; agreed: boolean } | undefined {
    let at = bound
    let agreed = true
    for (const [index, { column, values }] of this.#indexed.entries()) {
      const row = this.#sql.get<{ next: number | null }>(
        selectIndexed[this.#order],
        this.#workspace,
        column,
        at,
        values,
      )
      if (row?.next == null) return undefined
      if (row.next !== at && index > 0) agreed = false
      at = row.next
    }
    return { at, agreed }
  }

  /** Rows that belong to no zone yet: a few thousand, or all of them while the first zone maps are made. */
  *#blocks(range: Range): Generator<ScanRange> {
    const { from, to } = range
    const isRising = this.#order === 'asc'
    let rest = { from, to }
    while (rest.from <= rest.to) {
      const edge = this.#sql.get<{ sequence: number }>(selectEdge[this.#order], this.#workspace, rest.from, rest.to)
      if (!edge) {
        yield { ...rest, entries: zoneRows }
        return
      }
      const { sequence } = edge
      yield { ...(isRising ? { from: rest.from, to: sequence } : { from: sequence, to: rest.to }), entries: zoneRows }
      rest = isRising ? { from: sequence + 1, to } : { from, to: sequence - 1 }
    }
  }
}

/** Sequences, both inclusive. */
export type Range = { from: number; to: number }

/** Neighbouring rows of a workspace that are read at once. `entries`: how many there are at most. */
export type ScanRange = Range & { entries: number }

type Zone = { first_sequence: number; last_sequence: number; entries: number }

/** A column with more values than this does not choose zones: each value takes 0.4 µs per zone. */
const indexedValuesMax = 200
/** Values looked up before the next zone is returned. */
const seeksMax = 8

const selectZones = 'SELECT first_sequence, last_sequence, entries FROM log_zones WHERE workspace = ?'
const selectLastZone = `${selectZones} ORDER BY first_sequence DESC LIMIT 1`
const selectZoneAt = `${selectZones} AND first_sequence <= ? ORDER BY first_sequence DESC LIMIT 1`

function selectZone(order: 'asc' | 'desc', admitted: string): string {
  return `${selectZones} AND first_sequence BETWEEN ? AND ?${admitted} ORDER BY first_sequence ${order} LIMIT 1`
}

const selectIndexed = {
  asc: `
    SELECT min((SELECT first_sequence FROM log_zone_facets
      WHERE workspace = ?1 AND facet = ?2 AND value = each.value AND first_sequence >= ?3
      ORDER BY first_sequence LIMIT 1)) AS next
    FROM json_each(?4) AS each`,
  desc: `
    SELECT max((SELECT first_sequence FROM log_zone_facets
      WHERE workspace = ?1 AND facet = ?2 AND value = each.value AND first_sequence <= ?3
      ORDER BY first_sequence DESC LIMIT 1)) AS next
    FROM json_each(?4) AS each`,
}

const selectEdge = {
  asc: `SELECT sequence FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ?
    ORDER BY sequence LIMIT 1 OFFSET ${zoneRows - 1}`,
  desc: `SELECT sequence FROM logs WHERE workspace = ? AND sequence BETWEEN ? AND ?
    ORDER BY sequence DESC LIMIT 1 OFFSET ${zoneRows - 1}`,
}
