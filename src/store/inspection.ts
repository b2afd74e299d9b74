/** The state of the webhook deliveries of an installation. Times are epoch milliseconds. */
export type OutboxState = {
  pending: number
  oldestDueAt: number | null
  /** Deliveries that finally failed, of runs from the given sequence on. */
  failed: number
  /** Webhook subscriptions of workflows that are not deleted. */
  webhooks: number
  /** Webhook subscriptions whose secret is lost. They receive nothing until a new secret is set. */
  withoutSecret: number
}

/** The state of the schedules of an installation. Times are epoch milliseconds. */
export type SchedulesState = {
  schedules: number
  /** When the next one is due; null when none is. */
  dueAt: number | null
}
