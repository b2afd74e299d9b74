import type { RunStatus } from '../run/log.ts'
import type { AlertRule } from './alert.ts'

/**
 * The memory of a rule about the runs that it has seen. It never grows beyond some numbers: a window is divided into 60
 * slots, and each holds two sums. So a window moves on in steps of a sixtieth of its length.
 */
export type RuleState = {
  /** `consecutive_failures`: the failures since the last success. */
  failures?: number
  /** Slots that have counts, oldest first: the number of the slot since 1970, its runs, and its sum. */
  slots?: readonly Slot[]
}
type Slot = readonly [slot: number, runs: number, sum: number]

/** The facts about an ended run that rules use. */
export type RuleRun = { endedAt: number; status: RunStatus; durationMs: number; costUsd: number }

/** The state after a run, and what the rule measures then. `isMet`: the rule holds at this run. */
export type Observed = { state: RuleState; isMet: boolean; measured: Measured }
export type Measured = { runs: number; sum: number }

export const slotsPerWindow = 60

/**
 * Adds a run. All windowed rules need two sums only. A percentile is above a limit exactly when too few runs are at or
 * below the limit, so a rule about latency counts slow runs.
 */
export function observe(rule: AlertRule, state: RuleState, run: RuleRun): Observed {
  switch (rule.type) {
    case 'consecutive_failures': {
      const before = state.failures ?? 0
      const failures = run.status === 'error' ? before + 1 : run.status === 'success' ? 0 : before
      const isMet = run.status === 'error' && failures >= rule.count
      return { state: { failures }, isMet, measured: { runs: failures, sum: failures } }
    }
    case 'failure_rate': {
      const counts = run.status !== 'cancelled'
      return inWindow(rule, state, run, { runs: counts ? 1 : 0, sum: run.status === 'error' ? 1 : 0 }, (measured) => {
        return counts && measured.runs >= rule.minRuns && measured.sum * 100 >= rule.percent * measured.runs
      })
    }
    case 'latency': {
      const counts = run.status !== 'cancelled'
      const isSlow = counts && run.durationMs > rule.aboveMs
      return inWindow(rule, state, run, { runs: counts ? 1 : 0, sum: isSlow ? 1 : 0 }, ({ runs, sum }) => {
        // The percentile is the run at this place, counted from the fastest.
        return counts && runs - sum < placeOf(rule.percentile, runs)
      })
    }
    case 'cost':
      return inWindow(rule, state, run, { runs: 1, sum: run.costUsd }, ({ sum }) => run.costUsd > 0 && sum >= rule.usd)
    case 'no_activity':
      return { state, isMet: false, measured: { runs: 0, sum: 0 } }
  }
}

/** Rounded first: 99.9 % of 1000 runs are 999 of them, although the product is a little more. */
function placeOf(percentile: number, runs: number): number {
  const place = (percentile * runs) / 100
  const nearest = Math.round(place)
  return Math.abs(place - nearest) < 1e-6 ? nearest : Math.ceil(place)
}

function inWindow(
  { windowMs }: { windowMs: number },
  state: RuleState,
  run: RuleRun,
  added: Measured,
  holds: (measured: Measured) => boolean,
): Observed {
  const slot = slotOf(run.endedAt, windowMs)
  const newest = Math.max(slot, state.slots?.at(-1)?.[0] ?? slot)
  const slots = addTo(state.slots ?? [], slot, added).filter(([each]) => each > newest - slotsPerWindow)
  const measured = slots.reduce((sums, [, runs, sum]) => ({ runs: sums.runs + runs, sum: sums.sum + sum }), {
    ...{ runs: 0, sum: 0 },
  })
  // A run from before the window says nothing about now.
  return { state: { slots }, isMet: slot > newest - slotsPerWindow && holds(measured), measured }
}

/** Runs of several processes may arrive in another order than they ended. */
function addTo(slots: readonly Slot[], slot: number, { runs, sum }: Measured): Slot[] {
  const at = slots.findIndex(([each]) => each >= slot)
  const index = at === -1 ? slots.length : at
  const found = slots[index]
  if (found?.[0] !== slot) return slots.toSpliced(index, 0, [slot, runs, sum])
  return slots.with(index, [slot, found[1] + runs, found[2] + sum])
}

export function slotOf(at: number, windowMs: number): number {
  return Math.floor(at / (windowMs / slotsPerWindow))
}

/** Whether a rule counts the runs of all watched workflows together, and not those of each workflow. */
export function countsTogether(rule: AlertRule, watchesAll: boolean): boolean {
  return rule.type === 'cost' || (rule.type === 'no_activity' && watchesAll)
}
