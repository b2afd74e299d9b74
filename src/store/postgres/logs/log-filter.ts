import { sequenceAt, sequenceOf } from '../../../domain/ids.ts'
import { runStatuses } from '../../../domain/run/log.ts'
import { searchable } from '../../../domain/text/searchable.ts'
import { liesIn } from '../../../domain/workflow/folders.ts'
import type { LogFilter } from '../../log-query.ts'
import { levels, triggers } from '../../stored-values.ts'
import { listOf, type Sql, storable, type Value } from '../connection.ts'

/** A filter whose names are looked up. `values`: `$1` to `$19` of `admits` and `isInTime`. */
export type SqlFilter = {
  values: readonly Value[]
  /** The number of the only workflow that it admits. */
  workflow: number | undefined
}

/**
 * Whether a row `l` is admitted. One text for all filters, because the server keeps a prepared statement for each text.
 */
export const admits = `
  ($2::smallint IS NULL OR l.level = $2::smallint)
  AND ($3::smallint[] IS NULL OR l.status = ANY($3::smallint[]))
  AND ($4::smallint[] IS NULL OR l.trigger = ANY($4::smallint[]))
  AND ($5::bigint IS NULL OR l.started_at >= $5::bigint)
  AND ($6::bigint IS NULL OR l.started_at <= $6::bigint)
  AND ($7::double precision IS NULL OR l.duration_ms >= $7::double precision)
  AND ($8::double precision IS NULL OR l.duration_ms <= $8::double precision)
  AND ($9::double precision IS NULL OR l.cost_total >= $9::double precision)
  AND ($10::double precision IS NULL OR l.cost_total <= $10::double precision)
  AND ($11::text IS NULL OR $11::text = ANY(l.models))
  AND ($12::integer[] IS NULL OR l.workflow = ANY($12::integer[]))
  AND ($13::text IS NULL OR (l.labels IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM json_array_elements($13::text::json) wanted
    WHERE (l.labels::json ->> (wanted.value ->> 0)) IS DISTINCT FROM (wanted.value ->> 1))))
  AND ($14::text IS NULL OR strpos(l.search, $14::text) > 0 OR l.workflow = ANY($15::integer[])
    OR l.sequence = $16::bigint OR strpos(lower(l.execution_id), $17::text) > 0
    OR strpos(replace(lower(l.execution_id), '-', ''), $18::text) > 0)`

/** Leaves out partitions whose entries were recorded before the first admitted run started. */
export const isInTime = 'l.sequence >= $19::bigint'

/** How far the clocks of processes may differ, generously. */
const clocksDifferMs = 86_400_000

/** Undefined when the filter admits nothing: it names only unknown workflows or folders. */
export async function compileFilter(sql: Sql, workspaceId: string, filter: LogFilter): Promise<SqlFilter | undefined> {
  const { startDate, search, labels, model } = filter
  const { admitted, named } = await workflowsOf(sql, workspaceId, filter)
  if (admitted?.length === 0) return undefined
  const text = search === undefined ? undefined : storable(searchable(search))
  // Digits are found in an ID whether or not they are written with its dashes.
  const isDigits = text !== undefined && /^[0-9a-f-]+$/.test(text)
  const wantedLabels = labels?.map((pair) => pair.map((each) => storable(each)))
  return {
    workflow: admitted?.length === 1 ? admitted[0] : undefined,
    values: [
      workspaceId,
      filter.level === undefined ? null : levels.indexOf(filter.level),
      indexList(runStatuses, filter.statuses),
      indexList(triggers, filter.triggers),
      startDate ?? null,
      filter.endDate ?? null,
      filter.minDurationMs ?? null,
      filter.maxDurationMs ?? null,
      filter.minCost ?? null,
      filter.maxCost ?? null,
      model === undefined ? null : storable(model),
      admitted ? listOf(admitted) : null,
      wantedLabels ? JSON.stringify(wantedLabels) : null,
      text ?? null,
      listOf(named),
      (text && sequenceOf(text)) ?? null,
      text === undefined || isDigits ? null : text,
      (isDigits && text.replaceAll('-', '')) || null,
      startDate === undefined ? 0 : Math.max(0, sequenceAt(startDate - clocksDifferMs)),
    ],
  }
}

function indexList<Name>(names: readonly Name[], chosen: readonly Name[] | undefined): string | null {
  return chosen ? listOf(chosen.map((name) => names.indexOf(name))) : null
}

/**
 * The numbers of workflows, including deleted ones. `admitted`: those that match `workflowIds` and `folderIds`;
 * undefined when neither is given. `named`: those whose ID or name contains the text that is searched for.
 */
async function workflowsOf(
  sql: Sql,
  workspaceId: string,
  { workflowIds, folderIds, search }: LogFilter,
): Promise<{ admitted: number[] | undefined; named: number[] }> {
  const needsAll = folderIds !== undefined || search !== undefined
  if (!needsAll && workflowIds === undefined) return { admitted: undefined, named: [] }
  const ids = needsAll ? null : listOf(workflowIds!.map((id) => storable(id)))
  const rows = await sql.all<{ number: number; id: string; name: string; folder: string | null }>(
    selectWorkflows,
    workspaceId,
    ids,
  )
  const wantedIds = workflowIds && new Set(workflowIds)
  const wantedFolders = folderIds && new Set(folderIds)
  const admitted = rows.filter(
    ({ id, folder }) =>
      (wantedIds?.has(id) ?? true) &&
      (wantedFolders === undefined || (folder !== null && liesIn(folder, wantedFolders))),
  )
  const text = search === undefined ? undefined : searchable(search)
  const named = text === undefined ? [] : rows.filter(({ id, name }) => searchable(`${id}\n${name}`).includes(text))
  return {
    admitted: wantedIds || wantedFolders ? admitted.map(({ number }) => number) : undefined,
    named: named.map(({ number }) => number),
  }
}

const selectWorkflows = `
  SELECT f.number, f.id, f.name, f.folder
  FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
  WHERE w.id = $1 AND ($2::text[] IS NULL OR f.id = ANY($2::text[]))`
