import type { ScheduleStep } from './schedule.ts'

/** What a run may be accepted for once only; it is written in one commit with the run, or refused with it. */
export type Claim = RequestClaim | ScheduleClaim

/** A request from outside that names itself. `key`: a digest of the name; it is the workflow's for 24 hours from `at`. */
export type RequestClaim = { kind: 'request'; key: string; at: number }

/** A time at which a workflow is due. */
export type ScheduleClaim = { kind: 'schedule'; step: ScheduleStep }

export const requestClaimMs = 86_400_000

/** A write that changed nothing, because its claim belongs to another. `executionId`: the run that has it, if one has. */
export type Refusal = { index: number; executionId: string | null }
