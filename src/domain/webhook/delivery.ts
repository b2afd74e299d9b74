import type { OutboundFailureCode } from '../outbound-request.ts'
import type { Level, SkipReason } from '../run/log.ts'
import type { TriggerKind } from '../workflow/workflow.ts'
import type { PauseEvent } from './run-event.ts'

/**
 * A webhook delivery: one event of a run, sent to one subscription. Times are in epoch milliseconds.
 *
 * pending → delivered: a receiver accepted it (2xx).
 * pending → failed: an attempt failed and must not be retried, or it was the last attempt.
 * pending → cancelled: a user cancelled it. If an attempt in flight then succeeds, it becomes delivered.
 * delivered, failed, cancelled → pending: a user resends it, with a full budget of attempts.
 *
 * A pending delivery always has the time of its next attempt, even while an attempt is in flight. If the process dies,
 * the attempt is made again, and the interrupted one does not count.
 */
export type Delivery = DeliveryKey & {
  /** The parts of the body: bits of `include` in webhook.ts. */
  include: number
  state: DeliveryState
  /** The number of attempts that have ended. */
  attempts: number
  /** How many of them were made before the latest resend. */
  attemptsBefore: number
  /** When the next attempt is due; null unless the delivery is pending. */
  dueAt: number | null
}

/** `sequence` identifies the run's log entry or the pause event, `subscription` is the subscription's number. */
export type DeliveryKey = { sequence: number; subscription: number }

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'cancelled'
export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled'] as const satisfies DeliveryState[]

/** The facts that the dispatcher needs about a pending delivery. */
export type DueDelivery = Omit<Delivery, 'state' | 'dueAt'> & { dueAt: number }

/** One attempt. `number` starts at 1 and continues after a resend. */
export type DeliveryAttempt = {
  number: number
  startedAt: number
  durationMs: number
  /** The HTTP status; null when no response arrived. */
  status: number | null
  /** Why the attempt failed; null when it succeeded. */
  failure: AttemptFailure | null
  /** The beginning of the response body as text; null when there was no body. */
  answer: string | null
}

export type AttemptFailure = { code: AttemptFailureCode; message: string }

/**
 * `HTTP_ERROR`: a status other than 2xx. `REDIRECTED`: a 3xx, which is not followed. `NOT_SENDABLE`: the request could
 * not be built because a variable is missing or the log entry is gone. `MAIL_ERROR`: the mail server did not accept it.
 */
export type AttemptFailureCode = OutboundFailureCode | 'HTTP_ERROR' | 'REDIRECTED' | 'NOT_SENDABLE' | 'MAIL_ERROR'

/** The state of the delivery after an attempt. */
export type AttemptOutcome = { state: 'pending'; dueAt: number } | { state: 'delivered' | 'failed'; dueAt: null }

/** The record of an attempt that has ended. */
export type EndedAttempt = { delivery: DeliveryKey; attempt: DeliveryAttempt; outcome: AttemptOutcome }

/** The record that the body of a delivery is built from. */
export type DeliverySource = RunSource | PauseEventSource | AlertSource

/** A recorded run. Texts are JSON. */
export type RunSource = {
  sequence: number
  workflowId: string
  executionId: string
  level: Level
  trigger: TriggerKind
  startedAt: number
  endedAt: number
  durationMs: number
  pausedMs: number | null
  /** Null when the run cost nothing. */
  cost: string | null
  /** Present only when the subscription includes it. */
  finalOutput?: string
  traceSpans?: string
  /** The run's `RunFile`s; null when it has no files. */
  files: string | null
  /** `{ rateLimits, usage }` when the run ended; null when no subscription includes them. */
  facts: string | null
}

/** A pause event on disk that the body of a delivery is built from. */
export type PauseEventSource = Pick<PauseEvent, 'sequence' | 'kind' | 'at' | 'paused'> & {
  workflowId: string
  executionId: string
  trigger: TriggerKind
  startedAt: number
}

/** An alert that fired. `alert`: JSON of its `FiringContent`. */
export type AlertSource = { sequence: number; alertId: string; at: number; alert: string }

/** The outcome for one subscription of the workflow when a run ended. */
export type RunDecision = {
  subscription: { number: number; id: string; url: string }
  /** Why nothing is sent; null when there is a delivery. */
  skipped: SkipReason | null
  /** Null when nothing is sent. */
  delivery: (Delivery & { lastAttempt: DeliveryAttempt | null }) | null
}

/** How many characters of a response body are stored. */
export const responseCharsMax = 2_048
