import type { ScheduleStep } from '../schedule/schedule.ts'

/** Something that may start only one run. The store writes the claim in the same commit as the run, or refuses both. */
export type Claim = RequestClaim | ScheduleClaim

/** The idempotency key of an inbound request. `key` is a digest of it; the workflow holds it for 24 hours from `at`. */
export type RequestClaim = { kind: 'request'; key: string; at: number }

/** A due time of a schedule. */
export type ScheduleClaim = { kind: 'schedule'; step: ScheduleStep }

export const requestClaimMs = 86_400_000

/**
 * A write that changed nothing because another run holds its claim; `executionId` is that run, if one is recorded. Or
 * because the job that it belongs to is another process's.
 */
export type Refusal = { index: number; executionId: string | null }
