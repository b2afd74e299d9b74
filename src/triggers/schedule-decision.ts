import type { ScheduleRow, ScheduleState } from '../domain/schedule/schedule.ts'
import type { Timetable } from '../language/timetable.ts'

/** The input of a decision. */
export type ScheduleSituation = {
  row: Pick<ScheduleRow, 'rule' | 'dueAt' | 'waitingAt'>
  timetable: Timetable
  /** Epoch milliseconds. */
  now: number
  /** Due times before this one were missed, because the service was not running. */
  missedBefore: number
  /** Whether a run of the schedule is in progress or queued. */
  isRunning: boolean
}

/**
 * - `run`: start a run for `dueAt`.
 * - `wait`: queue `dueAt` until the run in progress ends.
 * - `skip`: start nothing for the times up to the next one; `why` names the reason.
 * - `defer`: decide once the run in progress has ended. `to` is the state of the schedule afterwards.
 */
export type ScheduleDecision =
  | { do: 'run'; dueAt: number; to: ScheduleState }
  | { do: 'wait'; dueAt: number; to: ScheduleState }
  | { do: 'skip'; why: 'overlap' | 'missed'; dueAt: number; to: ScheduleState }
  | { do: 'defer' }

/**
 * The next decision about a schedule; undefined when nothing is due. Each due time is resolved once, because the next
 * state names a later one. Missed times come first and are resolved together: those that the rule skips are passed over
 * in the step that runs the one after them.
 */
export function decide(situation: ScheduleSituation): ScheduleDecision | undefined {
  const { row, timetable, now, missedBefore, isRunning } = situation
  const { dueAt, waitingAt, rule } = row
  if (waitingAt !== null && !isRunning) return { do: 'run', dueAt: waitingAt, to: { dueAt, waitingAt: null } }
  if (dueAt === null || dueAt > now) return undefined
  if (dueAt < missedBefore) return decideMissed(situation, dueAt)
  return decideDue(
    situation,
    dueAt,
    { dueAt: timetable.next(dueAt), waitingAt },
    rule.overlap === 'allow' || !isRunning,
  )
}

function decideMissed(situation: ScheduleSituation, dueAt: number): ScheduleDecision {
  const { row, timetable, missedBefore, isRunning } = situation
  const { rule, waitingAt } = row
  const mayRun = rule.overlap === 'allow' || !isRunning
  const next = timetable.next(missedBefore - 1)
  const passed = { dueAt: next, waitingAt }
  if (rule.missed === 'skip') return { do: 'skip', why: 'missed', dueAt, to: passed }
  if (rule.missed === 'once') return decideDue(situation, latest(timetable, 1, missedBefore, dueAt), passed, mayRun)
  // The rule `all` runs every time in order, even where a time that was not missed would be skipped.
  if (!mayRun) return { do: 'defer' }
  const first = latest(timetable, rule.missedMax, missedBefore, dueAt)
  return { do: 'run', dueAt: first, to: { dueAt: timetable.next(first), waitingAt } }
}

/** The earliest of the last `count` times before `before`, and not before `dueAt`. */
function latest(timetable: Timetable, count: number, before: number, dueAt: number): number {
  return timetable.last(count, before).find((time) => time >= dueAt) ?? dueAt
}

function decideDue({ row }: ScheduleSituation, dueAt: number, to: ScheduleState, mayRun: boolean): ScheduleDecision {
  if (mayRun) return { do: 'run', dueAt, to }
  if (row.rule.overlap === 'queue' && row.waitingAt === null)
    return { do: 'wait', dueAt, to: { ...to, waitingAt: dueAt } }
  return { do: 'skip', why: 'overlap', dueAt, to }
}

/** A run to be started. */
export type ScheduledRun = { row: ScheduleRow; dueAt: number; executionId: string }

/**
 * `refused`: the schedule has changed. `rate`, `usage`: its owner has reached a limit of the tier. `limit`: the limits
 * of the workflow refuse or skip the start.
 */
export type StartOutcome = 'started' | 'refused' | 'rate' | 'usage' | 'limit'
/** The outcome of a due time. Times skipped together are reported once, for the first of them. */
export type ScheduleOutcome = 'started' | 'waiting' | 'overlap' | 'missed' | 'rate' | 'usage' | 'limit'
