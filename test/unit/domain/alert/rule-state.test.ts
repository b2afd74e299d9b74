import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AlertRule } from '../../../../src/domain/alert/alert.ts'
import {
  observe,
  type RuleRun,
  type RuleState,
  slotOf,
  slotsPerWindow,
} from '../../../../src/domain/alert/rule-state.ts'

const windowMs = 3_600_000
const start = Date.UTC(2026, 0, 1)

/** Runs of a few hours, a little out of order, as several processes record them. */
const runs = fc.array(
  fc.record({
    afterMs: fc.integer({ min: -5_000, max: windowMs / 8 }),
    status: fc.constantFrom('success' as const, 'error' as const, 'cancelled' as const),
    durationMs: fc.integer({ min: 0, max: 100 }),
    costUsd: fc.integer({ min: 0, max: 10 }),
  }),
  { maxLength: 100 },
)

/** Whether a rule holds at the last of these runs, computed from the whole list. */
function model(rule: AlertRule, all: readonly RuleRun[]): boolean {
  const last = all.at(-1)!
  if (rule.type === 'no_activity') return false
  if (rule.type === 'consecutive_failures') {
    const since = all.findLastIndex(({ status }) => status === 'success')
    const failures = all.slice(since + 1).filter(({ status }) => status === 'error').length
    return last.status === 'error' && failures >= rule.count
  }
  const newest = Math.max(...all.map(({ endedAt }) => slotOf(endedAt, rule.windowMs)))
  const inWindow = (run: RuleRun) => slotOf(run.endedAt, rule.windowMs) > newest - slotsPerWindow
  if (!inWindow(last)) return false
  const recent = all.filter(inWindow)
  if (rule.type === 'cost') return last.costUsd > 0 && recent.reduce((sum, { costUsd }) => sum + costUsd, 0) >= rule.usd
  if (last.status === 'cancelled') return false
  const counted = recent.filter(({ status }) => status !== 'cancelled')
  if (rule.type === 'failure_rate') {
    const failures = counted.filter(({ status }) => status === 'error').length
    return counted.length >= rule.minRuns && (failures / counted.length) * 100 >= rule.percent
  }
  const durations = counted.map(({ durationMs }) => durationMs).sort((one, other) => one - other)
  return durations[Math.ceil((rule.percentile / 100) * durations.length) - 1]! > rule.aboveMs
}

const rules: fc.Arbitrary<AlertRule> = fc.oneof(
  fc.record({ type: fc.constant('consecutive_failures' as const), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    type: fc.constant('failure_rate' as const),
    percent: fc.constantFrom(10, 25, 50, 100),
    windowMs: fc.constant(windowMs),
    minRuns: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({
    type: fc.constant('latency' as const),
    percentile: fc.constantFrom(50, 95, 99, 100),
    aboveMs: fc.integer({ min: 0, max: 100 }),
    windowMs: fc.constant(windowMs),
  }),
  fc.record({
    type: fc.constant('cost' as const),
    usd: fc.integer({ min: 1, max: 60 }),
    windowMs: fc.constant(windowMs),
  }),
)

test('a rule holds exactly when it holds for the list of all runs', () => {
  fc.assert(
    fc.property(rules, runs, (rule, steps) => {
      let state: RuleState = {}
      let now = start
      const seen: RuleRun[] = []
      for (const { afterMs, ...facts } of steps) {
        now += afterMs
        const run = { ...facts, endedAt: now }
        seen.push(run)
        // As after a restart.
        const observed = observe(rule, JSON.parse(JSON.stringify(state)) as RuleState, run)
        state = observed.state
        expect(observed.isMet).toBe(model(rule, seen))
        expect(state.slots?.length ?? 0).toBeLessThanOrEqual(slotsPerWindow)
      }
    }),
    { numRuns: 300 },
  )
})

test('a percentile is the run at the exact place', () => {
  const rule = { type: 'latency', percentile: 55, aboveMs: 10, windowMs } as const
  let state: RuleState = {}
  let isMet = false
  // 55 of 100 runs are fast, so the percentile 55 is the slowest of these.
  for (let at = 0; at < 100; at += 1) {
    const run = { endedAt: start, status: 'success', durationMs: at < 45 ? 20 : 1, costUsd: 0 } as const
    const observed = observe(rule, state, run)
    state = observed.state
    isMet = observed.isMet
  }
  expect(isMet).toBe(false)
})
