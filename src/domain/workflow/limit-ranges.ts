type Range = { readonly min: number; readonly max: number }

/** 31 days. */
export const windowMsMax = 2_678_400_000

/** The allowed values of the numbers in the limits of a workflow. The editor checks them, too. */
export const limitRanges = {
  /** At most the longest time that `MILLRACE_RUN_TIMEOUT_MS` and `MILLRACE_ASYNC_TIMEOUT_MS` allow. */
  timeoutMs: { min: 1, max: 604_800_000 },
  concurrency: { min: 1, max: 100_000 },
  count: { min: 1, max: 1_000_000 },
  windowMs: { min: 1, max: windowMsMax },
  queueMax: { min: 0, max: 100_000 },
  quietMs: { min: 1, max: 86_400_000 },
  maxMs: { min: 1, max: windowMsMax },
  priority: { min: -10, max: 10 },
} as const satisfies Record<string, Range>
