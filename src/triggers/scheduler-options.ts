import type { Clock } from '../domain/clock.ts'
import type { ScheduleRow, ScheduleStep } from '../domain/schedule/schedule.ts'
import type { Store } from '../store/store.ts'
import type { ScheduledRun, ScheduleOutcome, StartOutcome } from './schedule-decision.ts'

export type SchedulerOptions = {
  store: Pick<Store, 'getSchedule' | 'listDueSchedules' | 'listWaitingSchedules' | 'listScheduledJobs'>
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  /** Starts a run; the step is stored in the same commit. Rejects when that is impossible now. */
  start(run: ScheduledRun, step: ScheduleStep): Promise<StartOutcome>
  /** Stores a step that starts nothing. Returns false when the schedule has changed. Rejects like `start`. */
  take(step: ScheduleStep): Promise<boolean>
  /** Called with the owners of schedules that are due soon. */
  prepare(ownerIds: ReadonlySet<string>): void
  /** Called for every resolved due time. */
  onResolved(row: ScheduleRow, dueAt: number, outcome: ScheduleOutcome): void
  /** Called when schedules cannot proceed. They are retried a second later. */
  onTrouble(error: unknown): void
  /** The time of the last record before this start. */
  lastSeenAt: number
  /** Maximum number of schedules in memory, earliest first. */
  windowMax?: number
  /** Whether this process starts schedules: only one does. True when absent. */
  isLeader?(): boolean
}
