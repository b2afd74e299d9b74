import type { Row } from '../../move/tables.ts'
import type { Sql } from '../connection.ts'
import { chunksOf, chunkValues, insertChunk } from '../logs/chunk.ts'
import { executionKey, packFacts } from '../tables/rows.ts'
import { spanMax } from '../upkeep/compaction.ts'
import { insertRows, modelSetOf } from '../writes/logs.ts'

/** Writes whole log entries, in rising order of their sequences, with chunks like those of compaction. */
export function insertLogRows(sql: Sql, rows: readonly Row[]): void {
  const entries = rows.map(entryOf)
  insertRows(sql, entries.map(valuesWith(sql)))
  for (const { workspace, sequence, failure, labels, search } of entries.filter(hasNotes)) {
    sql.run(insertNotes, workspace, sequence, failure, labels, search ?? '')
  }
  for (const some of runsOfOneHour(entries)) {
    const workspaces = some.map(({ workspace }) => workspace)
    for (const chunk of chunksOf(some, workspaces)) sql.run(insertChunk, ...chunkValues(chunk))
  }
}

const insertNotes = 'INSERT INTO log_notes (workspace, sequence, failure, labels, search) VALUES (?, ?, ?, ?, ?)'

type Entry = ReturnType<typeof entryOf>

function entryOf(row: Row) {
  const [sequence, , workspace, workflow, executionId, version, level, status, trigger, source, ...more] =
    row as unknown as Cells
  const [partial, createdAt, startedAt, endedAt, durationMs, costTotal, models, failure, labels, ...texts] = more
  const [search, cost, finalOutput, traceSpans, pausedMs] = texts
  return {
    ...{ sequence, workspace, workflow, executionId, version, level, status, trigger, source, partial, createdAt },
    ...{
      startedAt,
      endedAt,
      durationMs,
      costTotal,
      models,
      failure,
      labels,
      search,
      cost,
      finalOutput,
      traceSpans,
      pausedMs,
    },
  }
}

/** The cells of a log entry in the order of its columns. */
type Cells = [
  ...[sequence: number, commitOrder: unknown, workspace: number, workflow: number, executionId: string],
  ...[version: number, level: number, status: number, trigger: number, source: number | null, partial: boolean],
  ...[createdAt: number | null, startedAt: number, endedAt: number, durationMs: number, costTotal: number],
  ...[models: string | null, failure: string | null, labels: string | null, search: string | null],
  ...[cost: string | null, finalOutput: string, traceSpans: string, pausedMs: number | null],
]

const hasNotes = ({ failure, labels }: Entry) => failure !== null || labels !== null

/** Makes the values for `insertRows`. */
function valuesWith(sql: Sql) {
  const modelSets = new Map<string, number>()
  const modelSet = (models: string) => {
    const number = modelSets.get(models) ?? modelSetOf(sql, JSON.parse(models) as string[])
    modelSets.set(models, number)
    return number
  }
  return (entry: Entry) => [
    ...[entry.workspace, entry.sequence, entry.workflow, executionKey(entry.executionId), entry.version],
    ...[entry.level, entry.trigger, entry.createdAt, entry.startedAt, entry.endedAt, entry.durationMs],
    ...[entry.costTotal, entry.models === null ? 0 : modelSet(entry.models), packFacts(entry, hasNotes(entry))],
    entry.pausedMs,
  ]
}

/** Retention deletes whole chunks, so a chunk has entries of one hour at most. */
function* runsOfOneHour(entries: readonly Entry[]): Generator<Entry[]> {
  let from = 0
  for (const [index, { sequence }] of entries.entries()) {
    if (sequence - entries[from]!.sequence <= spanMax) continue
    yield entries.slice(from, index)
    from = index
  }
  yield entries.slice(from)
}
