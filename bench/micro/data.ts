import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FormatOperation } from '../../src/domain/format/format-work.ts'
import { Formats } from '../../src/formats/formats.ts'

/** Rows a second that the workers for documents read and write: `bun bench/micro/data.ts`. */
const rows = 1_000_000
const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-data-'))
const formats = new Formats({ workersMax: 1 })

async function measure(title: string, operation: FormatOperation, path: string, options = {}): Promise<string> {
  const output = join(folder, title.replaceAll(' ', '-'))
  mkdirSync(output)
  const size = statSync(path).size
  const startedAt = performance.now()
  const outcome = await formats.run({
    ...{ operation, options, timeoutMs: 600_000, signal: new AbortController().signal },
    input: { kind: 'file', file: { path, size, name: 'file', type: 'text/plain' } },
    output: { folder: output, bytesMax: 4e9 },
  })
  const seconds = (performance.now() - startedAt) / 1_000
  if (!outcome.ok) throw new Error(outcome.message)
  const megabytes = (size / 1e6 / seconds).toFixed(0)
  console.log(`${title}: ${Math.round(rows / seconds).toLocaleString('en')} rows/s, ${megabytes} MB/s`)
  return outcome.files[0]?.path ?? ''
}

const csv = join(folder, 'rows.csv')
const lines = Array.from({ length: rows }, (_, id) => `${id},"Name ${id}",${id % 1000}.5,"some, note"\n`)
writeFileSync(csv, `id,name,price,note\n${lines.join('')}`)
await measure('warm-up', 'csv_parse', csv, { output: 'file', limit: 1_000 })
const jsonLines = await measure('CSV to JSON Lines', 'csv_parse', csv, { output: 'file' })
await measure('JSON Lines to CSV', 'csv_write', jsonLines, { output: 'file' })
const sheet = await measure('JSON Lines to XLSX', 'xlsx_write', jsonLines)
await measure('XLSX to JSON Lines', 'xlsx_read', sheet, { output: 'file' })
await measure('SHA-256', 'hash', csv)
await formats.stop()
rmSync(folder, { recursive: true })
