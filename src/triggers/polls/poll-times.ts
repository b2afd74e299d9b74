import type { PollRow } from '../../domain/poll/poll.ts'
import { retryAfterMs } from '../../domain/run/backoff.ts'
import { timetableOf } from '../../language/timetable.ts'

/** When a poll that succeeded is due next. */
export function nextDue({ rule }: Pick<PollRow, 'rule'>, now: number): number | null {
  return rule && timetableOf(rule).next(now)
}

/**
 * When a poll that failed is due next: later with each failure in a row, up to an hour, and not before the time that
 * the service asks for. A poll that is due rarely is tried again sooner. `random`: 0 ≤ n < 1.
 */
export function dueAfterFailure(
  { rule, failures }: Pick<PollRow, 'rule' | 'failures'>,
  { now, random, retryAfter }: { now: number; random: number; retryAfter: string | undefined },
): number | null {
  if (!rule) return null
  const base = Math.min(baseMsMax, rule.intervalMs ?? baseMsMax)
  const delay = Math.min(delayMsMax, base * 2 ** Math.min(failures - 1, doublingsMax))
  const asked = Math.min(askedMsMax, retryAfterMs(retryAfter, now) ?? 0)
  return now + Math.max(Math.round(delay * (0.75 + random / 2)), asked)
}

const baseMsMax = 60_000
const delayMsMax = 3_600_000
const doublingsMax = 20
const askedMsMax = 86_400_000
