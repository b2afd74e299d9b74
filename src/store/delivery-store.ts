import type {
  Delivery,
  DeliveryAttempt,
  DeliveryKey,
  DeliverySource,
  DeliveryState,
  DueDelivery,
  EndedAttempt,
  RunDecision,
} from '../domain/webhook/delivery.ts'
import type { RunEventKind } from '../domain/webhook/run-event.ts'

/** The part of the port for webhook deliveries. `append` adds the pending deliveries of runs and pause events. */
export interface DeliveryStore {
  /**
   * Records the outcomes of attempts; ignores deliveries that were deleted, or that another process has. A recorded
   * outcome survives the process, but a power cut may undo it: then the delivery is due as before, and attempted again.
   */
  endAttempts(attempts: readonly EndedAttempt[]): Promise<void>
  /** Subscriptions that have pending deliveries of this process. */
  pendingSubscriptions(): Promise<number[]>
  /** The first pending deliveries of a subscription that this process has, by `dueAt`, then `sequence`. */
  nextDeliveries(
    subscription: number,
    after: { dueAt: number; sequence: number } | null,
    limit: number,
  ): Promise<DueDelivery[]>
  /** The contents of webhook bodies, by sequence; omits entries and events that were deleted. */
  readDeliveries(needs: readonly DeliveryNeed[]): Promise<DeliverySource[]>
  /** One page of a workflow's deliveries, newest first; it may be short for a rare state. */
  listDeliveries(query: DeliveryQuery): Promise<DeliveryPage>
  getDelivery(key: DeliveryKey): Promise<DeliveryRow | undefined>
  /** In order. */
  listAttempts(key: DeliveryKey): Promise<DeliveryAttempt[]>
  /** The decision about each subscription of a run's workflow, and its outcome. */
  listRunWebhooks(sequence: number): Promise<RunDecision[]>
  /**
   * Makes a delivery due at `at`, whatever its state. A pending one keeps the attempts it has left. False: it was
   * deleted.
   */
  sendAgain(key: DeliveryKey, at: number): Promise<boolean>
  /** The same for failed deliveries, oldest first. Call it again with the returned position until that is null. */
  resendFailed(query: FailedDeliveries): Promise<{ keys: DeliveryKey[]; position: DeliveryKey | null }>
  /** False when it is not pending. */
  cancelDelivery(key: DeliveryKey): Promise<boolean>
}

/** `include`: bits of the requested parts. */
export type DeliveryNeed = { sequence: number; include: number }

/** `after`: the `position` of the page before. */
export type DeliveryQuery = {
  workflowId: string
  state: DeliveryState | undefined
  /** Only those to this subscription, by its id, which may be deleted. */
  webhookId?: string | undefined
  after: DeliveryKey | undefined
  limit: number
}

/** `position`: where the next page starts; null on the last page. */
export type DeliveryPage = { deliveries: DeliveryRow[]; position: DeliveryKey | null }

/** A delivery with its run, for lists. */
export type DeliveryRow = Delivery & {
  event: RunEventKind
  workflowId: string
  executionId: string
  /** The version that ran; below 0 for a draft. */
  version: number
  versionName: string | null
  /** When the run ended, or the event happened. */
  endedAt: number
  subscriptionId: string
  /** The subscription's current address. */
  url: string
  /** Null before the first attempt has ended. */
  lastAttempt: DeliveryAttempt | null
}

/** Failed deliveries of runs from sequence `since` on. */
export type FailedDeliveries = {
  workflowId: string
  since: number
  after: DeliveryKey | undefined
  at: number
  limit: number
}
