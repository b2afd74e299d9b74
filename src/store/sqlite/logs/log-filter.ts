import { sequenceOf } from '../../../domain/ids.ts'
import { runStatuses } from '../../../domain/run/log.ts'
import { searchable } from '../../../domain/text/searchable.ts'
import { liesIn } from '../../../domain/workflow/folders.ts'
import type { LogFilter } from '../../log-query.ts'
import { levels, triggers } from '../../stored-values.ts'
import type { Sql, Value } from '../connection.ts'
import { notesBit, statusColumn } from '../tables/rows.ts'
import { indexedColumns } from './zone-maps.ts'

/** A filter compiled for the search. */
export type SqlFilter = {
  /** A row must meet all of them. */
  conditions: readonly Condition[]
  /** A zone that may contain an admitted row contains at least one of the values of each. */
  indexed: readonly IndexedValues[]
}

/**
 * One condition on rows of `logs`, and the condition on the zone map of a zone that may contain such a row. Both take
 * the same values. The texts are few and constant: a filter is one of some hundred combinations of them, so statements
 * are compiled once.
 */
export type Condition = { row: string; zone: string | undefined; values: readonly Value[] }

/** `column`: its number in `indexedColumns`; `values`: a JSON array of numbers. */
export type IndexedValues = { column: number; values: string; count: number }

/** Undefined when the filter admits nothing: it names an unknown workflow, folder or model. */
export function compileFilter(sql: Sql, workspace: number, filter: LogFilter): SqlFilter | undefined {
  const workflows = workflowsOf(sql, workspace, filter)
  const modelSets = modelSetsOf(sql, filter)
  if (workflows?.length === 0 || modelSets?.length === 0) return undefined
  const { level, statuses, search, labels, startDate, endDate, minDurationMs, maxDurationMs, minCost, maxCost } = filter
  const conditions = [
    level && bits('level', 'levels', maskOf(levels, [level])),
    statuses && bits(statusColumn, 'coalesce(statuses, levels)', maskOf(runStatuses, statuses)),
    filter.triggers && bits('trigger', 'triggers', maskOf(triggers, filter.triggers)),
    between('started_at', 'started', startDate, endDate),
    between('duration_ms', 'duration', minDurationMs, maxDurationMs),
    between('cost_total', 'cost', minCost, maxCost),
    workflows && among('workflow', workflows),
    modelSets && among('models', modelSets),
    labels && labelled(labels),
    search !== undefined ? containing(sql, workspace, search) : undefined,
  ]
  const indexed = [
    workflows && { column: indexedColumns.workflow, values: JSON.stringify(workflows), count: workflows.length },
    modelSets && { column: indexedColumns.models, values: JSON.stringify(modelSets), count: modelSets.length },
  ]
  return {
    conditions: conditions.filter((condition) => condition !== undefined),
    indexed: indexed.filter((each) => each !== undefined),
  }
}

/** A bit for each chosen name, by its index in the list. */
export function maskOf<Name>(names: readonly Name[], chosen: readonly Name[]): number {
  return chosen.reduce((mask, name) => mask | (1 << names.indexOf(name)), 0)
}

function bits(column: string, zoneColumn: string, mask: number): Condition {
  return { row: `(1 << ${column}) & ?`, zone: `${zoneColumn} & ?`, values: [mask] }
}

function between(column: string, zoneColumns: string, min: number | undefined, max: number | undefined) {
  if (min === undefined && max === undefined) return undefined
  return {
    row: `${column} BETWEEN ? AND ?`,
    zone: `${zoneColumns}_max >= ? AND ${zoneColumns}_min <= ?`,
    values: [min ?? Number.NEGATIVE_INFINITY, max ?? Number.POSITIVE_INFINITY],
  }
}

function among(column: string, numbers: readonly number[]): Condition {
  return {
    row: `${column} IN (SELECT value FROM json_each(?))`,
    zone: undefined,
    values: [JSON.stringify(numbers)],
  }
}

/** Entries with all of these labels. */
function labelled(labels: NonNullable<LogFilter['labels']>): Condition {
  return {
    row: `(facts & ${notesBit} AND NOT EXISTS (${selectMissing}))`,
    zone: undefined,
    values: [JSON.stringify(labels)],
  }
}

/** The wanted labels that an entry lacks. */
const selectMissing = `
  SELECT 1 FROM json_each(?) wanted WHERE NOT EXISTS (
    SELECT 1 FROM log_notes n, json_each(n.labels) l
    WHERE n.workspace = logs.workspace AND n.sequence = logs.sequence AND l.key = wanted.value ->> 0
      AND l.value = wanted.value ->> 1)`

/**
 * Entries that contain a text: in their notes, in an ID, or in the name of their workflow. Names are compared once per
 * request, notes only where an entry has them.
 */
function containing(sql: Sql, workspace: number, search: string): Condition {
  const text = searchable(search)
  const digits = /^[0-9a-f-]+$/.test(text) ? text.replaceAll('-', '') : ''
  const workflows = sql
    .all<{ number: number; id: string; name: string }>(selectNames, workspace)
    .filter(({ id, name }) => searchable(`${id}\n${name}`).includes(text))
    .map(({ number }) => number)
  // An empty text would be found in every ID, so a text that is never part of one takes its place.
  const values = [JSON.stringify(workflows), sequenceOf(text) ?? -1, digits || '-', text, text]
  return { row: contains, zone: undefined, values }
}

const selectNames = 'SELECT number, id, name FROM workflows WHERE workspace = ?'
/** Most execution IDs are stored as bytes. */
const contains = `(workflow IN (SELECT value FROM json_each(?)) OR sequence = ?
  OR (typeof(execution_id) = 'blob' AND instr(lower(hex(execution_id)), ?))
  OR (typeof(execution_id) = 'text' AND instr(lower(execution_id), ?))
  OR (facts & ${notesBit} AND EXISTS (
    SELECT 1 FROM log_notes n
    WHERE n.workspace = logs.workspace AND n.sequence = logs.sequence AND instr(n.search, ?))))`

/** The workflows that match `workflowIds` and `folderIds`, including deleted ones; undefined when neither is given. */
function workflowsOf(sql: Sql, workspace: number, { workflowIds, folderIds }: LogFilter): number[] | undefined {
  const named = workflowIds && numbers(sql, selectById, workspace, workflowIds)
  if (!folderIds) return named
  const ids = new Set(folderIds)
  const folders = sql.all<{ folder: string }>(selectFolders, workspace).filter(({ folder }) => liesIn(folder, ids))
  const paths = folders.map(({ folder }) => folder)
  const inside = numbers(sql, selectByFolder, workspace, paths)
  const wanted = named && new Set(named)
  return wanted ? inside.filter((number) => wanted.has(number)) : inside
}

const selectById = 'SELECT number FROM workflows WHERE workspace = ? AND id = ?'
const selectFolders = 'SELECT DISTINCT folder FROM workflows WHERE workspace = ? AND folder IS NOT NULL'
const selectByFolder = 'SELECT number FROM workflows WHERE workspace = ? AND folder IS NOT NULL AND folder = ?'

function numbers(sql: Sql, text: string, workspace: number, names: readonly string[]): number[] {
  const distinct = [...new Set(names)]
  return distinct.flatMap((name) => sql.all<{ number: number }>(text, workspace, name).map(({ number }) => number))
}

function modelSetsOf(sql: Sql, { model }: LogFilter): number[] | undefined {
  if (model === undefined) return undefined
  const rows = sql.all<{ model_set: number }>('SELECT model_set FROM model_set_names WHERE name = ?', model)
  return rows.map((row) => row.model_set)
}
