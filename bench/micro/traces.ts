import { bench, run } from 'mitata'
import { newExecutionId } from '../../src/domain/ids.ts'
import type { RunRecord, Span } from '../../src/domain/run/log.ts'
import { RunTraces } from '../../src/telemetry/otlp/run-traces.ts'
import { samplerOf } from '../../src/telemetry/otlp/sampler.ts'
import { SpanExporter } from '../../src/telemetry/otlp/span-exporter.ts'

/** `bun bench/micro/traces.ts`: the cost of a run's end while none, one of 100, or all are exported as traces. */
const spanOf = (number: number, type: string, children: Span[] = []): Span => ({
  ...{ id: `s${number}`, name: type, type, blockId: type, status: 'success', startTime: 1, endTime: 2, durationMs: 1 },
  ...{ input: { n: 5 }, output: {}, error: null, attempts: null, children },
})
const blocks = [spanOf(2, 'api_trigger'), spanOf(3, 'condition'), spanOf(4, 'response')]
const recordOf = (): RunRecord => ({
  ...{ executionId: newExecutionId(), workflowId: 'w', workspaceId: 'x', version: 1, trigger: 'api' },
  ...{ createdAt: null, startedAt: 1, endedAt: 2, durationMs: 1, failure: null, output: {}, secrets: undefined },
  cost: { models: {}, tokens: { prompt: 0, completion: 0, total: 0 }, total: 0 },
  root: spanOf(1, 'workflow', blocks),
})
const records = Array.from({ length: 10_000 }, recordOf)

for (const ratio of ['0', '0.01', '1']) {
  const exporter = new SpanExporter({
    clock: { now: Date.now, monotonic: () => performance.now(), setTimer: () => ({ cancel: () => undefined }) },
    send: async () => ({ ok: true, rejected: 0 }),
    envelope: { before: '', after: '' },
    ...{ queueMax: 2_048, batchMax: 512, delayMs: 5_000 },
    onFailure: () => undefined,
  })
  const traces = new RunTraces({
    sampler: samplerOf('traceidratio', ratio, () => undefined),
    exporter,
    async inSlices(slices) {
      let slice = slices.next()
      while (!slice.done) slice = slices.next()
      return slice.value
    },
    onBug: (cause) => console.error(cause),
  })
  let at = 0
  bench(`a run of four spans, a share of ${ratio} exported`, async () => {
    at = (at + 1) % records.length
    traces.ended(records[at]!)
    // Gives the exporter time to send a batch, as in a service.
    if (exporter.room < 1_000) await Promise.resolve()
  })
}
await run()
