import { expect, test } from 'bun:test'
import { systemClock } from '../../../src/domain/clock.ts'
import { OtlpClient } from '../../../src/telemetry/otlp/otlp-client.ts'
import { ManualClock } from '../../support/clock.ts'
import { Collector } from '../../support/telemetry/collector.ts'

const message = '{"resourceSpans":[]}'
const forever = new AbortController().signal

function clientOf(collector: Collector, clock = new ManualClock(), compression: 'gzip' | 'none' = 'none') {
  const target = { url: `${collector.url}/v1/traces`, headers: { 'x-key': 'k' }, timeoutMs: 10_000, compression }
  return { clock, client: new OtlpClient({ target, clock, random: () => 0.5, version: '1' }) }
}

test.each(['none', 'gzip'] as const)('a message arrives with its headers, compression %s', async (compression) => {
  using collector = new Collector()
  const { client } = clientOf(collector, new ManualClock(), compression)
  expect(await client.send(message, forever)).toEqual({ ok: true, rejected: 0 })
  expect(collector.faults).toEqual([])
  const [request] = collector.requests
  expect(request?.path).toBe('/v1/traces')
  expect(request?.headers.get('x-key')).toBe('k')
  expect(request?.headers.get('content-encoding')).toBe(compression === 'gzip' ? 'gzip' : null)
})

test.each([429, 502, 503, 504])('status %d is tried again, after a growing pause', async (status) => {
  using collector = new Collector()
  const { client, clock } = clientOf(collector)
  collector.responses.push(
    () => new Response(null, { status }),
    () => new Response(null, { status }),
  )
  const sending = client.send(message, forever)
  const pauses: (number | undefined)[] = []
  for (const attempts of [1, 2]) {
    await collector.until((each) => each.attempts === attempts)
    while (clock.nextInMs === 10_000 || clock.pending === 0) await Bun.sleep(1)
    pauses.push(clock.nextInMs)
    clock.advance(clock.nextInMs ?? 0)
  }
  expect(await sending).toEqual({ ok: true, rejected: 0 })
  expect(pauses).toEqual([1_000, 2_000])
})

test('the collector may say how long to wait', async () => {
  using collector = new Collector()
  const { client, clock } = clientOf(collector)
  collector.responses.push(() => new Response(null, { status: 503, headers: { 'retry-after': '7' } }))
  const sending = client.send(message, forever)
  await collector.until(({ attempts }) => attempts === 1)
  while (clock.nextInMs !== 7_000) await Bun.sleep(1)
  clock.advance(7_000)
  expect(await sending).toEqual({ ok: true, rejected: 0 })
})

test.each([400, 401, 404, 500])('status %d is final', async (status) => {
  using collector = new Collector()
  const { client } = clientOf(collector)
  collector.responses.push(() => new Response(null, { status }))
  expect(await client.send(message, forever)).toEqual({
    ok: false,
    reason: `the collector answered with status ${status}`,
  })
  expect(collector.attempts).toBe(1)
})

test('a redirect is not followed, so that the headers go nowhere else', async () => {
  using collector = new Collector()
  using other = new Collector()
  const { client } = clientOf(collector)
  collector.responses.push(() => Response.redirect(`${other.url}/v1/traces`, 307))
  expect(await client.send(message, forever)).toMatchObject({ ok: false })
  expect(other.attempts).toBe(0)
})

test('items that the collector rejects are counted', async () => {
  using collector = new Collector()
  const { client } = clientOf(collector)
  collector.responses.push(() => Response.json({ partialSuccess: { rejectedSpans: '3', errorMessage: 'too old' } }))
  expect(await client.send(message, forever)).toEqual({ ok: true, rejected: 3, reason: 'too old' })
})

test('a collector that does not answer is given up after the timeout, and tried again', async () => {
  using collector = new Collector()
  const { client, clock } = clientOf(collector)
  collector.responses.push(() => new Promise(() => undefined))
  const sending = client.send(message, forever)
  // The request is heard when it ends, so wait for its arrival.
  while (collector.attempts < 1) await Bun.sleep(1)
  clock.advance(10_000)
  while (clock.nextInMs !== 1_000) await Bun.sleep(1)
  clock.advance(1_000)
  expect(await sending).toEqual({ ok: true, rejected: 0 })
})

test('an abort ends the request or the pause at once', async () => {
  const nobody = { url: 'http://127.0.0.1:1/v1/traces', headers: {}, timeoutMs: 60_000, compression: 'none' } as const
  const client = new OtlpClient({ target: nobody, clock: systemClock, random: () => 1, version: '1' })
  const stop = new AbortController()
  const sending = client.send(message, stop.signal)
  stop.abort(new Error('stop'))
  expect(await sending).toMatchObject({ ok: false })
})
