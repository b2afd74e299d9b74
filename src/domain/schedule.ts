/** When a workflow is due, and what becomes of times at which it cannot run. Times are epoch milliseconds. */
export type ScheduleRule = {
  /** One of the two. `intervalMs` counts from `startAt`, or else from the epoch: every 15 minutes is at :00, :15, … */
  cron: string | null
  intervalMs: number | null
  /** IANA name. */
  timezone: string
  /** The first and the last time that counts, inclusive. */
  startAt: number | null
  endAt: number | null
  overlap: Overlap
  missed: Missed
  missedMax: number
  /** Each run starts up to so much later, at random. */
  jitterMs: number
}

/** For a time that comes while an earlier run is still going: it is left out, or one waits, or it runs beside it. */
export const overlaps = ['skip', 'queue', 'allow'] as const
export type Overlap = (typeof overlaps)[number]

/** For times that passed while nobody could run them: the last one runs, or none, or the last `missedMax`. */
export const missedPolicies = ['once', 'skip', 'all'] as const
export type Missed = (typeof missedPolicies)[number]

/** `dueAt`: the first time after its registration; null when there is none. */
export type NewSchedule = { rule: ScheduleRule; dueAt: number | null }

/**
 * A registered schedule. `dueAt` is the first time that is not decided yet; `waitingAt` one that was, and runs when the
 * run before it has ended.
 */
export type ScheduleRow = {
  workflowId: string
  workspaceId: string
  /** The account that the workspace belongs to. */
  ownerId: string
  /** The active version. */
  version: number
  rule: ScheduleRule
  dueAt: number | null
  waitingAt: number | null
}

/**
 * What is decided about a schedule: it goes from the state that the decision was based on to the next one. Refused when
 * it is in another state by then (decided already, replaced, gone).
 */
export type ScheduleStep = {
  workflowId: string
  version: number
  from: ScheduleState
  to: ScheduleState
}

export type ScheduleState = Pick<ScheduleRow, 'dueAt' | 'waitingAt'>
