import { type EntryExtras, type EntryWorkflow, entryText } from '../../../domain/run/log-entry.ts'
import { entryTextV2 } from '../../../domain/run/v2/log-entry-v2.ts'
import { createIsoTime } from '../../../domain/text/iso-time.ts'
import type { EntryShow, LogPage, LogQuery } from '../../log-query.ts'
import type { Sql } from '../connection.ts'
import { findLogNotes, noNotes, VersionNames } from '../tables/log-notes.ts'
import { factsOf, notesBit } from '../tables/rows.ts'
import { RunFilesFinder } from '../tables/run-files.ts'
import { type SqlRow, searchLogs } from './log-search.ts'
import { LongTexts } from './long-texts.ts'

/**
 * A page whose text reaches this many characters ends early, which limits the memory that it takes. Only pages with
 * the long texts of entries can reach this limit.
 */
export const pageCharsMax = 1_048_576
/** Entries written between two calls of `yieldIfDue`: 0.1 ms without long texts. */
const entriesAtOnce = 32

/** `monotonic`: a clock in milliseconds, for the time limit of the search. */
export function queryLogs(sql: Sql, query: LogQuery, monotonic = () => performance.now()): LogPage {
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', query.workspaceId)
  if (!workspace) return { entries: '', count: 0, files: [], position: null, end: 'last' }
  const { rows, position, end } = searchLogs(sql, workspace.number, query, monotonic)
  const runFiles = new RunFilesFinder(sql, workspace.number, query.order)
  const write = entryWriter(sql, workspace.number, query.show)
  const files: string[] = []
  let entries = ''
  let count = 0
  for (const row of rows) {
    const own = runFiles.find(row.sequence)
    if (own !== undefined) files.push(own)
    entries += (count === 0 ? '' : ',') + write(row, own)
    count += 1
    if (count % entriesAtOnce === 0) sql.yieldIfDue?.()
    if (entries.length >= pageCharsMax && count < rows.length) {
      return { entries, count, files, position: [row.sequence], end: 'size' }
    }
  }
  return { entries, count, files, position, end }
}

function entryWriter(sql: Sql, workspace: number, show: EntryShow): (row: SqlRow, files: string | undefined) => string {
  const iso = createIsoTime()
  const workflows = new Map<number, EntryWorkflow>()
  const names = new VersionNames(sql)
  const longs = new LongTexts(sql)
  const needsLong = show.details || show.finalOutput || show.traceSpans
  return (row, files) => {
    const workflow = workflows.get(row.workflow) ?? readWorkflow(sql, row.workflow)
    workflows.set(row.workflow, workflow)
    const hasNotes = row.facts !== null && (row.facts & notesBit) !== 0
    const { failure, labels } = hasNotes ? findLogNotes(sql, workspace, row.sequence) : noNotes
    const extras: EntryExtras = { files, labels, versionName: names.find(row.workflow, row.version) }
    if (show.failure) extras.failure = failure ?? 'null'
    if (needsLong) {
      // Retention may have deleted the long texts but not yet the row.
      const long = longs.find(row.sequence)
      if (show.details) extras.details = { workflow, cost: long?.cost ?? null }
      if (show.finalOutput) extras.finalOutput = long?.finalOutput ?? 'null'
      if (show.traceSpans) extras.traceSpans = long?.traceSpans ?? '[]'
    }
    return (show.isV2 ? entryTextV2 : entryText)(factsOf(row, workflow.id), extras, iso)
  }
}

/** A deleted workflow keeps its row, so its log entries still have a name. */
function readWorkflow(sql: Sql, number: number): EntryWorkflow {
  const selectWorkflow = 'SELECT id, name, description FROM workflows WHERE number = ?'
  return sql.get<EntryWorkflow>(selectWorkflow, number) ?? { id: '', name: '', description: null }
}
