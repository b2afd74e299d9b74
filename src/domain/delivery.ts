import type { Level, SkipReason } from './log.ts'
import type { OutboundFailureCode } from './outbound-request.ts'
import type { TriggerKind } from './workflow.ts'

/**
 * What a run owes to one subscription. Times are epoch milliseconds.
 *
 * pending → delivered, when a receiver took it (2xx).
 * pending → failed, when an attempt ended in a way that another cannot mend, or was the last one.
 * pending → cancelled, by a user. An attempt that is under way then and succeeds makes it delivered all the same.
 * delivered, failed, cancelled → pending, when a user sends it again: with as many attempts as the first time.
 *
 * A pending one always has the time of its next attempt, also while that is under way: when the process dies, the
 * attempt is made again, and the one that was cut does not count.
 */
export type Delivery = DeliveryKey & {
  /** Bits of `include` in webhook.ts: what its body holds. */
  include: number
  state: DeliveryState
  /** Attempts that have ended. */
  attempts: number
  /** Of these, the ones before it was last sent again. */
  attemptsBefore: number
  /** When the next attempt is due; null unless pending. */
  dueAt: number | null
}

/** `sequence`: of the run's log entry. `subscription`: its number. */
export type DeliveryKey = { sequence: number; subscription: number }

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'cancelled'
export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled'] as const satisfies DeliveryState[]

/** What a delivery that has to be attempted is known by. */
export type DueDelivery = Omit<Delivery, 'state' | 'dueAt'> & { dueAt: number }

/** One try to deliver. `number` counts from 1 and goes on when it is sent again. */
export type DeliveryAttempt = {
  number: number
  startedAt: number
  durationMs: number
  /** Of the answer; null when none came. */
  status: number | null
  /** Why it did not succeed; null when it did. */
  failure: AttemptFailure | null
  /** The beginning of the answer's body, as text; null when there was none. */
  answer: string | null
}

export type AttemptFailure = { code: AttemptFailureCode; message: string }

/**
 * `HTTP_ERROR`: an answer other than 2xx. `REDIRECTED`: a 3xx, which is not followed. `NOT_SENDABLE`: it could not be
 * made, because a variable is missing, or its log entry is gone.
 */
export type AttemptFailureCode = OutboundFailureCode | 'HTTP_ERROR' | 'REDIRECTED' | 'NOT_SENDABLE'

/** What an attempt makes of its delivery. */
export type AttemptOutcome = { state: 'pending'; dueAt: number } | { state: 'delivered' | 'failed'; dueAt: null }

/** What is written down of an attempt that has ended. */
export type EndedAttempt = { delivery: DeliveryKey; attempt: DeliveryAttempt; outcome: AttemptOutcome }

/** What the body of a delivery is made of: the run as it was recorded. Texts are JSON. */
export type DeliverySource = {
  sequence: number
  workflowId: string
  executionId: string
  level: Level
  trigger: TriggerKind
  startedAt: number
  endedAt: number
  durationMs: number
  /** Null when the run cost nothing. */
  cost: string | null
  /** Only when asked for. */
  finalOutput?: string
  traceSpans?: string
  /** Of its `RunFile`s; null when it has none. */
  files: string | null
  /** `{ rateLimits, usage }` as they were when the run ended; null when nobody asked for them. */
  facts: string | null
}

/** What became of one subscription of a run's workflow when the run ended. */
export type RunDecision = {
  subscription: { number: number; id: string; url: string }
  /** Why nothing is sent; null when something is. */
  skipped: SkipReason | null
  /** Null when nothing is sent. */
  delivery: (Delivery & { lastAttempt: DeliveryAttempt | null }) | null
}

/** Characters of an answer that are kept. */
export const answerCharsMax = 2_048
