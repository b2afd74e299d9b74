import { bench, run } from 'mitata'
import { systemClock } from '../src/domain/clock.ts'
import { ServiceMetrics } from '../src/telemetry/service-metrics.ts'

/** `bun bench/metrics.ts`: the cost of counting per request and per run, of a scrape, and of all metrics at start. */
const metrics = made()
const route = metrics.requests.route('POST', '/api/workflows/:id/execute')
const record = { trigger: 'api', failure: null, durationMs: 3, createdAt: null, startedAt: 0 } as const

// Compiled first, so that compilation is not measured.
for (let n = 0; n < 200_000; n++) route.responded(200, n & 63, undefined)
bench('a response', () => route.responded(200, 3, undefined))
bench('a run that ended', () => metrics.runs.ended(record))
bench('a commit', () => metrics.commits.committed(16, 0.4, true))
bench('a scrape, the store apart', () => metrics.text())
bench('all metrics made', () => made())

await run()
metrics.stop()

function made(): ServiceMetrics {
  const made = new ServiceMetrics({ clock: systemClock, build: { version: 'x', commit: 'x', bun: Bun.version } })
  for (const path of Array.from({ length: 40 }, (_, n) => `/route/${n}`)) made.requests.route('GET', path)
  return made
}
