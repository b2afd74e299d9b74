import { sequenceAt } from '../../domain/ids.ts'
import { type Chunk, chunkCharsMax, chunkValues, insertChunk } from './chunk.ts'
import type { Sql } from './connection.ts'

/**
 * Puts small neighbouring chunks together, some hundred at a time: runs that ended alone take a tenth of the space
 * afterwards. A mark says how far this has come; behind it no chunk is looked at again. What is put together was recorded
 * within an hour, because retention deletes whole chunks: where runs are rare none stays for days on account of another.
 */
export function compactChunks(sql: Sql): void {
  const mark = sql.get<{ value: number }>(readMark)?.value ?? 0
  const loose: Loose[] = []
  let chars = 0
  let doneTo = mark
  const flush = () => {
    if (loose.length > 1) replace(sql, loose)
    doneTo = loose.at(-1)?.first_sequence ?? doneTo
    loose.length = 0
    chars = 0
  }
  const rows = sql.all<Loose>(readChunks, mark, chunksMax)
  for (const row of rows) {
    const span = loose.length > 0 ? row.last_sequence - loose[0]!.first_sequence : 0
    if (row.text === null || chars + row.text.length > chunkCharsMax || span > spanMax) flush()
    if (row.text === null) {
      doneTo = row.first_sequence
      continue
    }
    loose.push(row)
    chars += row.text.length
  }
  // The last few wait for their next neighbours, unless there is no end to them in sight.
  if (rows.length === chunksMax) flush()
  if (doneTo !== mark) sql.run(writeMark, doneTo)
}

/** `text` is null for a chunk that is packed already. */
type Loose = { first_sequence: number; last_sequence: number; text: string | null }

const chunksMax = 1_000

/** An hour of sequences. */
const spanMax = sequenceAt(3_600_000) - sequenceAt(0)

const readMark = "SELECT value FROM marks WHERE name = 'packed'"
const writeMark =
  "INSERT INTO marks (name, value) VALUES ('packed', ?) ON CONFLICT DO UPDATE SET value = excluded.value"
const readChunks = `
  SELECT first_sequence, last_sequence, iif(encoding = 0, content, NULL) AS text
  FROM log_chunks WHERE first_sequence > ? ORDER BY first_sequence LIMIT ?`
const deleteChunks = 'DELETE FROM log_chunks WHERE first_sequence BETWEEN ? AND ?'

function replace(sql: Sql, loose: readonly Loose[]): void {
  const packed: Chunk = {
    firstSequence: loose[0]!.first_sequence,
    lastSequence: loose.at(-1)!.last_sequence,
    text: loose.map(({ text }) => text).join(''),
  }
  sql.run(deleteChunks, packed.firstSequence, packed.lastSequence)
  sql.run(insertChunk, ...chunkValues(packed))
}
