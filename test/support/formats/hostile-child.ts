import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FormatOperation } from '../../../src/domain/format/format-work.ts'
import { Formats } from '../../../src/formats/formats.ts'

/** Does one operation on a file, and prints how much time of the processor and memory it needed. */
const [path = '', operation = '', options = '{}', timeoutMs = ''] = process.argv.slice(2)

function peakKB(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-hostile-'))
const formats = new Formats({ workersMax: 1 })
const run = (file: string, time: number) =>
  formats.run({
    operation: operation as FormatOperation,
    input: { kind: 'file', file: { path: file, size: statSync(file).size, name: 'file', type: 'text/plain' } },
    options: JSON.parse(options) as Record<string, unknown>,
    output: { folder, bytesMax: 268_435_456 },
    timeoutMs: time,
    signal: new AbortController().signal,
  })
// The first job starts the worker, and loads the code.
await run('/dev/null', 10_000)
const before = peakKB()
const used = process.cpuUsage()
const outcome = await run(path, Number(timeoutMs))
const { user, system } = process.cpuUsage(used)
const [code, message] = outcome.ok ? ['OK', ''] : [outcome.code, outcome.message]
console.log(JSON.stringify({ code, message, cpuMs: (user + system) / 1_000, megabytes: (peakKB() - before) / 1_024 }))
await formats.stop()
rmSync(folder, { recursive: true })
// A process with a worker that was terminated does not end by itself (Bun 1.4.5).
process.exit(0)
