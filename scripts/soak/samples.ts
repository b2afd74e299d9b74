import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Serving } from '../../test/support/running-service.ts'

/** The state of the process at a moment. */
export type Sample = {
  atS: number
  memoryMb: number
  descriptors: number
  /** Pending webhook deliveries. */
  pending: number
  databaseMb: number
  /** Log entries that retention deleted since the start. */
  deleted: number
}

export async function readSample({ url, pid }: Serving, data: string, atMs: number): Promise<Sample> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN)
  return {
    atS: atMs / 1_000,
    memoryMb: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    pending: metric('millrace_webhooks_pending'),
    databaseMb: statSync(join(data, 'millrace.db')).size / 1_048_576,
    deleted: metric('millrace_retention_entries_total'),
  }
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** `share` is between 0 and 1; 0 when there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
