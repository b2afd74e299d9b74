import { AppError, messageOf } from '../../../domain/errors.ts'
import { logIdOf } from '../../../domain/ids.ts'
import { batchRowsMax, batchSizeMax, sizeOf } from '../../move/row.ts'
import type { Row } from '../../move/tables.ts'
import type { Connection } from '../connection.ts'
import { chunkText, type Long, readChunk, type SqlChunk } from '../logs/chunk.ts'
import { executionIdOf, notesBit, unpackFacts } from '../tables/rows.ts'

/**
 * Reads whole log entries in the order of their sequences: chunk by chunk, with the rows of each workspace that has
 * entries in it. Throws `CONFLICT` when a chunk cannot be read or does not fit its rows.
 */
export function* logRows(connection: Connection, after: number): Generator<Row[]> {
  const models = modelSets(connection)
  let batch: Row[] = []
  let size = 0
  for (const chunk of connection.iterate<ChunkRow>(selectChunks, after)) {
    for (const row of rowsOf(connection, chunk, models)) {
      if ((row[0] as number) <= after) continue
      batch.push(row)
      size += sizeOf(row)
    }
    if (batch.length < batchRowsMax && size < batchSizeMax) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

type ChunkRow = SqlChunk & { first_sequence: number; last_sequence: number }

/** The parts of a log entry, by table. A test compares these columns with the schema. */
export const logColumns = {
  logs: [
    ...['workspace', 'sequence', 'workflow', 'execution_id', 'version', 'level', 'trigger', 'created_at'],
    ...['started_at', 'ended_at', 'duration_ms', 'cost_total', 'models', 'facts', 'paused_ms'],
  ],
  log_notes: ['workspace', 'sequence', 'failure', 'labels', 'search'],
  log_chunks: ['first_sequence', 'last_sequence', 'encoding', 'content'],
  model_sets: ['number', 'names'],
} as const

const selectChunks = `
  SELECT ${logColumns.log_chunks.join(', ')} FROM log_chunks
  WHERE first_sequence >= coalesce(
    (SELECT first_sequence FROM log_chunks WHERE first_sequence <= ?1 ORDER BY first_sequence DESC LIMIT 1), 0)
  ORDER BY first_sequence`

const inChunk = (table: 'logs' | 'log_notes') =>
  `SELECT ${logColumns[table].join(', ')} FROM ${table} WHERE workspace = ? AND sequence BETWEEN ? AND ? ORDER BY sequence`
const selectEntries = inChunk('logs')
const selectNotes = inChunk('log_notes')

type Entry = {
  [Name in Exclude<(typeof logColumns)['logs'][number], 'execution_id' | 'created_at' | 'facts' | 'paused_ms'>]: number
} & { execution_id: string | Uint8Array; created_at: number | null; facts: number | null; paused_ms: number | null }

function rowsOf(connection: Connection, chunk: ChunkRow, models: ReadonlyMap<number, string>): Row[] {
  const { first_sequence: first, last_sequence: last } = chunk
  const longs = open(chunk)
  const workspaces = new Set(Array.from(longs.values(), ({ workspace }) => workspace))
  const rows: Row[] = []
  for (const workspace of workspaces) {
    const entries = connection.all<Entry>(selectEntries, workspace, first, last)
    const noted = entries.some(({ facts }) => ((facts ?? 0) & notesBit) !== 0)
    const notes = noted ? connection.all<Notes>(selectNotes, workspace, first, last) : []
    const notesOf = new Map(notes.map((each) => [each.sequence, each]))
    for (const entry of entries) {
      const long = longs.get(entry.sequence)
      if (!long) throw damaged(chunk, `it does not contain ${logIdOf(entry.sequence)}`)
      rows.push(rowOf(entry, { workspace, long, notes: notesOf.get(entry.sequence), models }))
    }
  }
  return workspaces.size > 1 ? rows.sort((one, other) => (one[0] as number) - (other[0] as number)) : rows
}

function open(chunk: ChunkRow): ReadonlyMap<number, Long> {
  try {
    return readChunk(chunkText(chunk))
  } catch (error) {
    throw damaged(chunk, messageOf(error))
  }
}

function damaged({ first_sequence: first, last_sequence: last }: ChunkRow, problem: string): AppError {
  return new AppError(
    'CONFLICT',
    `The log entries from ${logIdOf(first)} to ${logIdOf(last)} are damaged: ${problem}. ` +
      'millrace doctor checks the database. Restore a backup, and move that.',
  )
}

type Notes = { sequence: number; failure: string | null; labels: string | null; search: string }

type Parts = {
  workspace: number
  long: Long
  notes: Notes | undefined
  models: ReadonlyMap<number, string>
}

function rowOf(entry: Entry, { workspace, long, notes, models }: Parts): Row {
  const { status, partial, source } = unpackFacts(entry)
  return [
    ...[entry.sequence, null, workspace, entry.workflow, executionIdOf(entry.execution_id), entry.version],
    ...[entry.level, status, entry.trigger, source, partial, entry.created_at, entry.started_at, entry.ended_at],
    ...[entry.duration_ms, entry.cost_total, models.get(entry.models) ?? null],
    ...[notes?.failure ?? null, notes?.labels ?? null, notes?.search ?? null],
    ...[long.cost, long.finalOutput, long.traceSpans, entry.paused_ms],
  ]
}

/** Numbers of sets of models, and the sets as JSON. There are few. */
function modelSets(connection: Connection): ReadonlyMap<number, string> {
  const sets = connection.all<{ number: number; names: string }>(selectModelSets)
  return new Map(sets.map(({ number, names }) => [number, names]))
}

const selectModelSets = `SELECT ${logColumns.model_sets.join(', ')} FROM model_sets`
