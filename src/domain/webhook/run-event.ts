/** The events that webhook subscriptions can select. Stores keep the index, so only append to this list. */
export const runEvents = ['completed', 'paused', 'resumed'] as const
export type RunEventKind = (typeof runEvents)[number]

/** The events of a run that has not ended. */
export type PauseEventKind = Exclude<RunEventKind, 'completed'>

/** The event that a delivery is about. */
export type DeliveryEvent = RunEventKind | 'alert'

/** The value of `type` in the body of a delivery, and of the header `svc-event`. */
export function eventTypeOf(event: DeliveryEvent): string {
  return event === 'alert' ? 'alert.fired' : `workflow.execution.${event}`
}

/**
 * Pauses of a run that have begun or ended, with the webhook deliveries about them. It is written in the commit that
 * changes the run.
 */
export type PauseEvent = {
  /** Set when the event is written. Events and log entries share one sequence of numbers. */
  sequence: number
  kind: PauseEventKind
  at: number
  /** JSON text: the pauses, in wire form and without secrets. */
  paused: string
  /** For `resumed`: the pauses whose end this event announces. */
  contextIds: readonly string[]
  deliveries: readonly { subscription: number; include: number }[]
}
