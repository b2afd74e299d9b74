import { expect, test } from 'bun:test'
import type { Sent } from '../../../../src/telemetry/otlp/otlp-client.ts'
import { SpanExporter } from '../../../../src/telemetry/otlp/span-exporter.ts'
import { ManualClock } from '../../../support/clock.ts'

function setUp() {
  const clock = new ManualClock()
  const sent: string[] = []
  const failures: string[] = []
  let answers: PromiseWithResolvers<Sent>[] = []
  const exporter = new SpanExporter({
    clock,
    send(json, signal) {
      sent.push(json)
      const answer = Promise.withResolvers<Sent>()
      signal.addEventListener('abort', () => answer.resolve({ ok: false, reason: 'aborted' }))
      answers.push(answer)
      return answer.promise
    },
    envelope: { before: '[', after: ']' },
    ...{ queueMax: 5, batchMax: 3, delayMs: 1_000 },
    onFailure: (reason) => failures.push(reason),
  })
  const answer = async (outcome: Sent = { ok: true, rejected: 0 }) => {
    const waiting = answers
    answers = []
    for (const each of waiting) each.resolve(outcome)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, sent, failures, exporter, answer }
}

test('spans wait for the delay, and a full batch does not', () => {
  const { clock, sent, exporter } = setUp()
  exporter.add(['1'])
  clock.advance(999)
  expect(sent).toEqual([])
  clock.advance(1)
  expect(sent).toEqual(['[1]'])
  const other = setUp()
  other.exporter.add(['1', '2', '3', '4'])
  expect(other.sent).toEqual(['[1,2,3]'])
})

test('one batch is sent at a time, and the spans that arrived meanwhile follow', async () => {
  const { clock, sent, exporter, answer } = setUp()
  exporter.add(['1', '2', '3'])
  exporter.add(['4', '5', '6', '7'])
  expect(sent).toEqual(['[1,2,3]'])
  await answer()
  expect(sent).toEqual(['[1,2,3]', '[4,5,6]'])
  await answer()
  clock.advance(1_000)
  expect(sent.at(-1)).toBe('[7]')
})

test('spans beyond the queue are dropped and counted', () => {
  const { exporter } = setUp()
  exporter.add(['1', '2', '3'])
  exporter.add(['4', '5', '6', '7', '8', '9', '10'])
  expect(exporter.room).toBe(0)
  expect(exporter.counts).toEqual({ exported: 0, dropped: 2, failed: 0 })
})

test('failed and rejected spans are counted, and only the first failure of several is reported', async () => {
  const { exporter, answer, failures } = setUp()
  exporter.add(['1', '2', '3'])
  await answer({ ok: false, reason: 'down' })
  exporter.add(['1', '2', '3'])
  await answer({ ok: false, reason: 'still down' })
  exporter.add(['1', '2', '3'])
  await answer()
  exporter.add(['1', '2', '3'])
  await answer({ ok: true, rejected: 2, reason: 'too old' })
  expect(exporter.counts).toEqual({ exported: 4, dropped: 0, failed: 8 })
  expect(failures).toEqual(['down', 'too old'])
})

test('a stop sends the waiting spans', async () => {
  const { sent, exporter, answer } = setUp()
  exporter.add(['1', '2'])
  const stopped = exporter.stop(2_000)
  expect(sent).toEqual(['[1,2]'])
  await answer()
  await stopped
  expect(exporter.counts.exported).toBe(2)
})

test('a stop ends after its time limit, and counts unsent spans as failed', async () => {
  const { clock, exporter } = setUp()
  exporter.add(['1', '2', '3'])
  exporter.add(['4'])
  const stopped = exporter.stop(2_000)
  clock.advance(2_000)
  await stopped
  expect(exporter.counts).toEqual({ exported: 0, dropped: 0, failed: 4 })
  expect(clock.pending).toBe(0)
})
