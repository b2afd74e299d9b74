import type { Operation } from '../job.ts'
import { RowWriter } from '../row-writer.ts'
import { jsonLinesOf } from './json-lines.ts'

/** Reads JSON Lines, a line at a time. */
export const parseJsonLines: Operation = (job) => {
  const rows = new RowWriter(job, { typed: false })
  for (const { text } of jsonLinesOf(job.input)) {
    rows.addJson(text, valuesIn(text))
    if (rows.isFull) break
  }
  return rows.end('rows.jsonl')
}

/** At least the number of values in a JSON text. */
function valuesIn(text: string): number {
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2c || code === 0x5b || code === 0x7b) values += 1
  }
  return values
}
