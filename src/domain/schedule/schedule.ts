/** When a workflow is due, and what happens to due times at which it cannot run. Times are in epoch milliseconds. */
export type ScheduleRule = {
  /** Either `cron` or `intervalMs`. An interval counts from `startAt`, or from the epoch: 15 min is at :00, :15, … */
  cron: string | null
  intervalMs: number | null
  /** IANA name. */
  timezone: string
  /** The first and the last valid time, inclusive. */
  startAt: number | null
  endAt: number | null
  overlap: Overlap
  missed: Missed
  missedMax: number
  /** Each run is delayed by a random time of at most this length. */
  jitterMs: number
}

/** When a run is due while an earlier one is in progress: skip it, queue it, or allow both at once. */
export const overlaps = ['skip', 'queue', 'allow'] as const
export type Overlap = (typeof overlaps)[number]

/** When due times passed while the service was down: run the last one, none, or the last `missedMax`. */
export const missedPolicies = ['once', 'skip', 'all'] as const
export type Missed = (typeof missedPolicies)[number]

/** `dueAt`: the first due time after the registration; null when there is none. */
export type NewSchedule = { rule: ScheduleRule; dueAt: number | null }

/**
 * A registered schedule. `dueAt` is the first due time without a decision. `waitingAt` is a queued due time, which runs
 * when the current run ends.
 */
export type ScheduleRow = {
  workflowId: string
  workspaceId: string
  /** The account that owns the workspace. */
  ownerId: string
  /** The active version. */
  version: number
  rule: ScheduleRule
  dueAt: number | null
  waitingAt: number | null
}

/**
 * A decision about a schedule: it moves the schedule from one state to the next. The store refuses it if the schedule
 * is no longer in the first state (because it was already decided, replaced or deleted).
 */
export type ScheduleStep = {
  workflowId: string
  version: number
  from: ScheduleState
  to: ScheduleState
}

export type ScheduleState = Pick<ScheduleRow, 'dueAt' | 'waitingAt'>
