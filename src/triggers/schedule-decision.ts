import type { ScheduleRow, ScheduleState } from '../domain/schedule.ts'
import type { Timetable } from '../language/timetable.ts'

/** What a decision stands on. */
export type ScheduleSituation = {
  row: Pick<ScheduleRow, 'rule' | 'dueAt' | 'waitingAt'>
  timetable: Timetable
  /** Epoch milliseconds. */
  now: number
  /** Due times before this one were missed: nobody was there to run them. */
  missedBefore: number
  /** Whether a run of the schedule is still going, or waits for its turn. */
  isRunning: boolean
}

/**
 * - `run`: start a run for `dueAt`.
 * - `wait`: `dueAt` waits for the run that is going on.
 * - `leave out`: nothing runs for the times up to the next one, and why.
 * - `hold`: nothing is decided until the run that is going on has ended.
 * `to`: the state of the schedule afterwards.
 */
export type ScheduleDecision =
  | { do: 'run'; dueAt: number; to: ScheduleState }
  | { do: 'wait'; dueAt: number; to: ScheduleState }
  | { do: 'leave out'; why: 'overlap' | 'missed'; dueAt: number; to: ScheduleState }
  | { do: 'hold' }

/**
 * The next thing to decide about a schedule; undefined when nothing is due. A due time is decided once: the state that
 * follows names a later one. Times that were missed come first, and are decided together: those that the rule leaves out
 * are passed over in the step that runs the one after them.
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
  if (rule.missed === 'skip') return { do: 'leave out', why: 'missed', dueAt, to: passed }
  if (rule.missed === 'once') return decideDue(situation, latest(timetable, 1, missedBefore, dueAt), passed, mayRun)
  // One after the other, also where a time that is not missed would be left out: whoever wants all wants all.
  if (!mayRun) return { do: 'hold' }
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
  return { do: 'leave out', why: 'overlap', dueAt, to }
}

/** A run that is to be started. */
export type ScheduledRun = { row: ScheduleRow; dueAt: number; executionId: string }

/** `refused`: the schedule is not what it was. `rate`, `usage`: its owner has used up what a plan allows. */
export type StartOutcome = 'started' | 'refused' | 'rate' | 'usage'
/** What became of a due time. `left out`s are told once, for the first of the times that were passed over together. */
export type ScheduleFate = 'started' | 'waiting' | 'overlap' | 'missed' | 'rate' | 'usage'
