import { type EntryExtras, entryText } from '../../../domain/run/log-entry.ts'
import { entryTextV2 } from '../../../domain/run/v2/log-entry-v2.ts'
import { createIsoTime } from '../../../domain/text/iso-time.ts'
import type { EntryShow, LogPage, LogQuery } from '../../log-query.ts'
import type { Sql } from '../connection.ts'
import { factColumns, factsOf, noteColumns, type SqlFacts } from './entry-rows.ts'
import { compileFilter } from './log-filter.ts'
import { keysOf, positionOf, positionValues, rowsReadMax, type Source, scanText, sourceOf } from './log-search.ts'

/**
 * A page whose long texts reach this many bytes ends early, which limits the memory that it takes. The server knows the
 * lengths without reading the texts.
 */
export const pageBytesMax = 1_048_576

export async function queryLogs(sql: Sql, query: LogQuery): Promise<LogPage> {
  const { workspaceId, order, limit, after, show } = query
  const nothing: LogPage = { entries: '', count: 0, files: [], position: after ?? null, end: 'last' }
  const filter = await compileFilter(sql, workspaceId, query.filter)
  if (!filter) return nothing
  const source = sourceOf(query, filter)
  // Newest first, one more row than the page holds shows whether there is another page.
  const wanted = order === 'asc' ? limit : limit + 1
  const rows = await sql.all<SqlEntry>(
    texts[order][source.kind],
    ...filter.values,
    ...(await positionValues(sql, query)),
    ...source.values,
    wanted,
    ...[show.details, show.finalOutput, show.traceSpans, show.failure],
  )
  const [first] = rows
  if (!first) return nothing
  const found = rows.filter(({ admitted }) => admitted).slice(0, limit)
  const last = found.at(-1)
  const page = { ...entriesOf(found, show), count: found.length }
  if (last && found.length < limit && found.length < first.candidates) {
    return { ...page, position: positionOf(order, last), end: 'size' }
  }
  if (last && first.candidates === wanted) return { ...page, position: positionOf(order, last), end: 'limit' }
  const end = rows.at(-1)!
  return { ...page, position: positionOf(order, end), end: end.entry < rowsReadMax ? 'last' : 'bound' }
}

/** `candidates`: the admitted rows before the limit of length. Other rows have only the facts of their position. */
type SqlEntry = SqlFacts & {
  commitOrder: number
  admitted: boolean
  entry: number
  candidates: number
  versionName: string | null
  files: string | null
  labels: string | null
  failure: string | null
  cost: string | null
  finalOutput: string | null
  traceSpans: string | null
  workflowName: string | null
  workflowDescription: string | null
}

/** `$23` is the number of rows, `$24` to `$27` tell which long texts are wanted: details, output, spans, failure. */
const selectPage = (order: LogQuery['order'], source: Source['kind']) => `
  SELECT ${factColumns}, ${noteColumns}, l.commit_order AS "commitOrder", l.admitted, l.entry,
    l.candidates, CASE WHEN $27::boolean THEN l.failure END AS failure,
    CASE WHEN $24::boolean THEN l.cost END AS cost,
    CASE WHEN $24::boolean THEN
      (SELECT f.name FROM millrace.workflows f WHERE f.number = l.workflow) END AS "workflowName",
    CASE WHEN $24::boolean THEN
      (SELECT f.description FROM millrace.workflows f WHERE f.number = l.workflow) END AS "workflowDescription",
    CASE WHEN $25::boolean THEN l.final_output END AS "finalOutput",
    CASE WHEN $26::boolean THEN l.trace_spans END AS "traceSpans"
  FROM (
    SELECT l.*, count(*) FILTER (WHERE l.admitted) OVER () AS candidates,
      sum(CASE WHEN l.admitted THEN
          CASE WHEN $24::boolean THEN coalesce(octet_length(l.cost), 0) ELSE 0 END
          + CASE WHEN $25::boolean THEN octet_length(l.final_output) ELSE 0 END
          + CASE WHEN $26::boolean THEN octet_length(l.trace_spans) ELSE 0 END
        ELSE 0 END::bigint) OVER (ORDER BY l.entry ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "bytesBefore"
    FROM (${scanText(order, source)} LIMIT $23::bigint) l
  ) l
  WHERE coalesce(l."bytesBefore", 0) < ${pageBytesMax}
  ORDER BY ${keysOf(order)}`

const textsOf = (order: LogQuery['order']) => ({
  workspace: selectPage(order, 'workspace'),
  workflow: selectPage(order, 'workflow'),
  execution: selectPage(order, 'execution'),
})
const texts = { asc: textsOf('asc'), desc: textsOf('desc') }

function entriesOf(rows: readonly SqlEntry[], show: EntryShow): Pick<LogPage, 'entries' | 'files'> {
  const iso = createIsoTime()
  const textOf = show.isV2 ? entryTextV2 : entryText
  const entries = rows.map((row) => textOf(factsOf(row), extrasOf(row, show), iso)).join(',')
  return { entries, files: rows.flatMap(({ files }) => files ?? []) }
}

function extrasOf(row: SqlEntry, show: EntryShow): EntryExtras {
  const { labels, versionName, files } = row
  const extras: EntryExtras = { labels, versionName, files: files ?? undefined }
  if (show.failure) extras.failure = row.failure ?? 'null'
  if (show.details) {
    const workflow = { id: row.workflowId, name: row.workflowName ?? '', description: row.workflowDescription }
    extras.details = { workflow, cost: row.cost }
  }
  if (show.finalOutput) extras.finalOutput = row.finalOutput ?? 'null'
  if (show.traceSpans) extras.traceSpans = row.traceSpans ?? '[]'
  return extras
}
