import type { ScheduleStep } from '../schedule/schedule.ts'

/** Something that may start only one run. The store writes the claim in the same commit as the run, or refuses both. */
export type Claim = RequestClaim | ScheduleClaim | EventClaim

/** The idempotency key of an inbound request. `key` is a digest of it; the workflow holds it for 24 hours from `at`. */
export type RequestClaim = {
  kind: 'request'
  key: string
  at: number
  /** A digest of what was requested. A repeat must request the same. Such a claim ends when the run fails. */
  request?: string
  /** The response for repeats, encrypted; absent for a run that became a job. */
  response?: Uint8Array
}

/** The claim of a request with an idempotency key and a digest. */
export type HeldRequest = { executionId: string; at: number; request: string | null; response: Uint8Array | null }

/** A run that an event starts (`event_runs`). */
export type EventClaim = { kind: 'event'; sequence: number }

/** A due time of a schedule. */
export type ScheduleClaim = { kind: 'schedule'; step: ScheduleStep }

export const requestClaimMs = 86_400_000

/**
 * A write that changed nothing because another run holds its claim; `executionId` is that run, if one is recorded. Or
 * because the job that it belongs to is another process's.
 */
export type Refusal = { index: number; executionId: string | null }
