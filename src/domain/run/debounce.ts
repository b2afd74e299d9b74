/** A start of a workflow that debounces its starts. `now`: a monotonic time, for a store without a clock of its own. */
export type DebounceStart = {
  workflowId: string
  key: string
  executionId: string
  quietMs: number
  /** The longest time from the first start. */
  maxMs: number
  now: number
}

/** The job that stands for all starts so far: that of this start, or an earlier one. `dueInMs`: when it is to run. */
export type Debounced = { executionId: string; dueInMs: number }

/**
 * A start joins an earlier one only if there is still this much time to replace its input, so that the job does not
 * begin with the old input meanwhile.
 */
export const joinMsMin = 250
