import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databasePath } from '../src/store/sqlite/open.ts'
import { seed } from './support/logs-seed.ts'
import { load, type Millrace, median, pacedLoad, serveMillrace } from './support/service.ts'

/**
 * How long does it take to delete millions of old log entries, and how does that affect callers? `bun
 * bench/retention.ts [entries] [connections]` serves an installation with entries of the last weeks, first with the
 * default retention, then with a twentieth of its size. Before, during and after, it alternates 200 runs per second at
 * a steady rate with as many runs as the connections allow.
 */
const [entries = 5_000_000, connections = 16] = process.argv.slice(2).map(Number)
const windowMs = 3_000
const windowsBefore = 6
/** The minimum of the setting. */
const bytesMaxLowest = 10_485_760

type Window = { p50: number; p99: number; max: number; perSecond: number }
type Phase = { steady: Window[]; full: Window[] }

const place = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
try {
  await measure(join(place, 'data'))
} finally {
  rmSync(place, { recursive: true })
}

async function measure(directory: string): Promise<void> {
  const seeded = await seed(directory, entries)
  const bytesBefore = bytesOf(directory)
  const before = emptyPhase()
  const first = await serveMillrace(seeded)
  await window(first, seeded.workflows.busy)
  for (let n = 0; n < windowsBefore; n += 1) add(before, await window(first, seeded.workflows.busy))
  await first.stop()

  const whilst = emptyPhase()
  const after = emptyPhase()
  const bytesMax = Math.max(bytesMaxLowest, Math.round(bytesBefore / 20))
  const second = await serveMillrace(seeded, { MILLRACE_LOG_RETENTION_BYTES: `${bytesMax}` })
  const startedAt = performance.now()
  let tookMs: number | undefined
  const watching = finished(second).then(() => {
    tookMs = performance.now() - startedAt
  })
  while (tookMs === undefined) add(whilst, await window(second, seeded.workflows.busy))
  await watching
  const { deleted, heldMsMax } = await countsOf(second)
  const bytesThen = bytesOf(directory)
  for (let n = 0; n < windowsBefore; n += 1) add(after, await window(second, seeded.workflows.busy))
  await second.stop()
  const bytesAfter = bytesOf(directory)

  console.log(`\n${deleted} entries deleted (${entries} and new ones) in ${(tookMs / 1000).toFixed(1)} s`)
  console.log(`longest time that a step held up writes: ${heldMsMax.toFixed(1)} ms`)
  console.log(
    `files: ${megabytes(bytesBefore)} MB before, ${megabytes(bytesThen)} MB after, ${megabytes(bytesAfter)} MB at the end`,
  )
  console.log(`\nmedians of windows of ${windowMs} ms      runs/s    p50 ms    p99 ms   of before   slowest ms`)
  for (const kind of ['steady', 'full'] as const) {
    const base = median(before[kind].map(({ p99 }) => p99))
    const name = kind === 'steady' ? '200 runs/s' : `${connections} connections`
    for (const [phase, windows] of Object.entries({ before, while: whilst, after }))
      print(name, phase, windows[kind], base)
  }
}

function print(name: string, phase: string, windows: readonly Window[], base: number): void {
  const middle = (of: (window: Window) => number) => median(windows.map(of))
  const cells = [
    middle(({ perSecond }) => perSecond).toFixed(0),
    middle(({ p50 }) => p50).toFixed(2),
    middle(({ p99 }) => p99).toFixed(2),
    (middle(({ p99 }) => p99) / base).toFixed(2),
    Math.max(...windows.map(({ max }) => max)).toFixed(1),
  ]
  console.log(
    `${name.padEnd(18)} ${phase.padEnd(10)} ${cells.map((cell) => cell.padStart(10)).join('')}  (${windows.length})`,
  )
}

/** Measures once at a steady rate and once at full load. */
async function window({ url, apiKey }: Millrace, workflowId: string): Promise<{ steady: Window; full: Window }> {
  const target = {
    url: `${url}/api/workflows/${workflowId}/execute`,
    ms: windowMs,
    body: '{"n":5}',
    headers: [`X-API-Key: ${apiKey}`],
  }
  const steady = await pacedLoad({ ...target, perSecond: 200 })
  const full = await load({ ...target, connections })
  return { steady: { ...steady, perSecond: 200 }, full }
}

/** Resolves when the first round of retention has ended. */
async function finished(service: Millrace): Promise<void> {
  while (!(await countsOf(service)).isOver) await Bun.sleep(250)
}

async function countsOf({ url }: Millrace): Promise<{ deleted: number; heldMsMax: number; isOver: boolean }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string) => new RegExp(`^millrace_retention_${name} (\\S+)$`, 'm').exec(text)?.[1]
  return {
    deleted: Number(value('entries_total')),
    heldMsMax: Number(value('step_seconds_max')) * 1_000,
    isOver: value('last_round_timestamp_seconds') !== undefined,
  }
}

function emptyPhase(): Phase {
  return { steady: [], full: [] }
}

function add(phase: Phase, { steady, full }: { steady: Window; full: Window }): void {
  phase.steady.push(steady)
  phase.full.push(full)
}

function bytesOf(directory: string): number {
  const path = databasePath(directory)
  return [path, `${path}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0)
}
