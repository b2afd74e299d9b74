import { expect, test } from 'bun:test'
import { LoopLag } from '../../../src/telemetry/loop-lag.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { ManualClock } from '../../support/clock.ts'
import { readScrape, valueIn } from '../../support/telemetry/scrape.ts'

const name = 'millrace_event_loop_lag_seconds'

test('the loop lag is how late a timer fires, from the first scrape on', async () => {
  // Its timers fire as late as the test says.
  let lateMs = 0
  class LateClock extends ManualClock {
    override monotonic = () => super.monotonic() + lateMs
  }
  const clock = new LateClock()
  const metrics = new Metrics({ clock })
  const lag = new LoopLag(metrics, clock)
  clock.advance(1_000)
  expect(clock.pending).toBe(0)
  lag.watch()
  lag.watch()
  expect(clock.pending).toBe(1)
  clock.advance(1_000)
  lateMs = 30
  clock.advance(clock.nextInMs ?? 0)
  const scrape = readScrape(await metrics.text())
  expect(valueIn(scrape, `${name}_count`)).toBe(11)
  expect(valueIn(scrape, `${name}_bucket`, { le: '0.001' })).toBe(10)
  expect(valueIn(scrape, `${name}_bucket`, { le: '0.025' })).toBe(10)
  expect(valueIn(scrape, `${name}_bucket`, { le: '0.05' })).toBe(11)
  expect(valueIn(scrape, `${name}_sum`)).toBeCloseTo(0.03)
  lag.stop()
  lag.watch()
  expect(clock.pending).toBe(0)
})
