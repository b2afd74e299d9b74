/** A start of a workflow with `debounce`. `now`: a monotonic time, for a store without a clock of its own. */
export type DebounceStart = {
  workflowId: string
  key: string
  executionId: string
  quietMs: number
  /** The longest time that the run may be delayed after the first start. */
  maxMs: number
  now: number
}

/** The job that will run for all starts so far: that of this start, or an earlier one. `dueInMs`: until it runs. */
export type Debounced = { executionId: string; dueInMs: number }

/**
 * A start joins an earlier job only if the job is due later than this. Otherwise the job could begin with the old input
 * while the start replaces it.
 */
export const joinMsMin = 250
