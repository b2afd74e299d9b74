import { sequenceAt } from '../../../domain/ids.ts'
import type { Sql } from '../connection.ts'
import { type Chunk, chunkCharsMax, chunkValues, insertChunk } from '../logs/chunk.ts'

/**
 * Merges small neighbouring chunks, some hundred at a time: runs that ended alone then take a tenth of the space. A
 * mark (`packed`) records how far this has come; chunks before it are not read again. Merged entries were recorded
 * within one hour, because retention deletes whole chunks: where runs are rare, no entry stays for days because of a
 * later one.
 */
export function compactChunks(sql: Sql): void {
  const mark = sql.get<{ value: number }>(readMark)?.value ?? 0
  const small: SmallChunk[] = []
  let chars = 0
  let doneTo = mark
  const flush = () => {
    if (small.length > 1) replace(sql, small)
    doneTo = small.at(-1)?.first_sequence ?? doneTo
    small.length = 0
    chars = 0
  }
  const rows = sql.all<SmallChunk>(readChunks, mark, chunksMax)
  for (const row of rows) {
    const span = small.length > 0 ? row.last_sequence - small[0]!.first_sequence : 0
    if (row.text === null || chars + row.text.length > chunkCharsMax || span > spanMax) flush()
    if (row.text === null) {
      doneTo = row.first_sequence
      continue
    }
    small.push(row)
    chars += row.text.length
  }
  // The last few wait for their next neighbours, unless there are more chunks to read.
  if (rows.length === chunksMax) flush()
  if (doneTo !== mark) sql.run(writeMark, doneTo)
}

/** `text` is null for a chunk that is already compacted. */
type SmallChunk = { first_sequence: number; last_sequence: number; text: string | null }

const chunksMax = 1_000

/** An hour of sequences. */
export const spanMax = sequenceAt(3_600_000) - sequenceAt(0)

const readMark = "SELECT value FROM marks WHERE name = 'packed'"
const writeMark =
  "INSERT INTO marks (name, value) VALUES ('packed', ?) ON CONFLICT DO UPDATE SET value = excluded.value"
const readChunks = `
  SELECT first_sequence, last_sequence, iif(encoding = 0, content, NULL) AS text
  FROM log_chunks WHERE first_sequence > ? ORDER BY first_sequence LIMIT ?`
const deleteChunks = 'DELETE FROM log_chunks WHERE first_sequence BETWEEN ? AND ?'

function replace(sql: Sql, small: readonly SmallChunk[]): void {
  const merged: Chunk = {
    firstSequence: small[0]!.first_sequence,
    lastSequence: small.at(-1)!.last_sequence,
    text: small.map(({ text }) => text).join(''),
  }
  sql.run(deleteChunks, merged.firstSequence, merged.lastSequence)
  sql.run(insertChunk, ...chunkValues(merged))
}
