import { expect, test } from 'bun:test'
import { MetricExporter, type MetricExporterOptions } from '../../../../src/telemetry/otlp/metric-exporter.ts'
import type { Sent } from '../../../../src/telemetry/otlp/otlp-client.ts'
import { ManualClock } from '../../../support/clock.ts'

const ok: Sent = { ok: true, rejected: 0 }

/** A collector that takes everything until `answer` is replaced. */
function setUp(more: Partial<MetricExporterOptions> = {}) {
  const clock = new ManualClock()
  const sent: string[] = []
  const failures: string[] = []
  let readings = 0
  const collector = { answer: (_signal: AbortSignal): Promise<Sent> => Promise.resolve(ok) }
  const exporter = new MetricExporter({
    ...{ clock, intervalMs: 1_000, timeoutMs: 500 },
    message: async () => `reading ${++readings}`,
    send(json, signal) {
      sent.push(json)
      return collector.answer(signal)
    },
    onFailure: (reason) => failures.push(reason),
    ...more,
  })
  exporter.start()
  const pass = async (ms: number) => {
    clock.advance(ms)
    await Bun.sleep(0)
  }
  return { clock, sent, failures, collector, exporter, pass }
}

/** A collector that hangs until the request is given up. */
const hang = (signal: AbortSignal) =>
  new Promise<Sent>((resolve) => {
    signal.addEventListener('abort', () => resolve({ ok: false, reason: String(signal.reason.message) }))
  })

test('sends all metrics after each interval, and the last values at the stop', async () => {
  const { sent, exporter, pass } = setUp()
  await pass(999)
  expect(sent).toEqual([])
  await pass(1)
  await pass(1_000)
  expect(sent).toEqual(['reading 1', 'reading 2'])
  await exporter.stop(100)
  expect(sent).toEqual(['reading 1', 'reading 2', 'reading 3'])
  await pass(10_000)
  expect(sent).toHaveLength(3)
  expect(exporter.counts).toEqual({ exported: 3, failed: 0 })
})

test('an export that takes longer than the interval is the only one in flight', async () => {
  const { sent, collector, pass, exporter, failures } = setUp({ timeoutMs: 2_500 })
  collector.answer = hang
  await pass(1_000)
  await pass(1_000)
  await pass(1_000)
  expect(sent).toEqual(['reading 1'])
  await pass(500)
  expect(failures).toEqual(['not exported in 2500 ms'])
  await pass(500)
  expect(sent).toEqual(['reading 1', 'reading 2'])
  expect(exporter.counts).toEqual({ exported: 0, failed: 1 })
})

test('the stop replaces a message in flight, and does not report it', async () => {
  const { sent, collector, pass, exporter, failures } = setUp()
  collector.answer = hang
  await pass(1_000)
  collector.answer = () => Promise.resolve(ok)
  await exporter.stop(100)
  expect(sent).toEqual(['reading 1', 'reading 2'])
  expect(failures).toEqual([])
  expect(exporter.counts).toEqual({ exported: 1, failed: 0 })
})

test('a collector that hangs delays the stop for the given time only', async () => {
  const { clock, collector, exporter } = setUp()
  collector.answer = hang
  let isStopped = false
  const stopping = exporter.stop(100).then(() => {
    isStopped = true
  })
  await Bun.sleep(0)
  clock.advance(99)
  await Bun.sleep(0)
  expect(isStopped).toBe(false)
  clock.advance(1)
  await stopping
})

test('reports the first failure after a success', async () => {
  const { collector, pass, failures } = setUp()
  const answers: Sent[] = [
    { ok: false, reason: 'down' },
    { ok: false, reason: 'still down' },
    ok,
    { ok: true, rejected: 2, reason: 'too old' },
    ok,
    { ok: true, rejected: 1 },
  ]
  const count = answers.length
  collector.answer = () => Promise.resolve(answers.shift() ?? ok)
  for (let at = 0; at < count; at++) await pass(1_000)
  expect(failures).toEqual(['down', 'too old', 'the collector rejected values'])
})

test('a failed reading of the metrics counts as a failed export, and the next export follows', async () => {
  let readings = 0
  const { pass, failures, exporter } = setUp({
    async message() {
      if (readings++ === 0) throw new Error('no disk')
      return ''
    },
  })
  await pass(1_000)
  await pass(1_000)
  expect(failures).toEqual(['no disk'])
  expect(exporter.counts).toEqual({ exported: 1, failed: 1 })
})
