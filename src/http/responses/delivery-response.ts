import { deliveryIdOf, eventIdOf, logIdOf } from '../../domain/ids.ts'
import type { Delivery, DeliveryAttempt, RunDecision } from '../../domain/webhook/delivery.ts'
import type { DeliveryRow } from '../../store/delivery-store.ts'
import { isoTime } from './schema-parts.ts'
import type { AttemptResponse, DeliveryResponse, RunWebhook } from './webhook-responses.ts'

export function deliveryResponse(row: DeliveryRow): DeliveryResponse {
  const { sequence, executionId, workflowId, subscriptionId, url, state, dueAt, lastAttempt } = row
  return {
    id: deliveryIdOf(row, executionId),
    event: row.event,
    eventId: eventIdOf(sequence, executionId),
    webhookId: subscriptionId,
    url,
    workflowId,
    executionId,
    version: row.version > 0 ? row.version : null,
    versionName: row.versionName,
    logId: row.event === 'completed' ? logIdOf(sequence) : null,
    state,
    createdAt: isoTime(row.endedAt),
    nextAttemptAt: dueAt === null ? null : isoTime(dueAt),
    attemptCount: row.attempts,
    lastAttempt: lastAttempt && attemptResponse(lastAttempt),
  }
}

export function attemptResponse(attempt: DeliveryAttempt): AttemptResponse {
  const { number, startedAt, durationMs, status, failure, answer } = attempt
  return { number, startedAt: isoTime(startedAt), durationMs, status, error: failure, answer }
}

/** `run`: the run that the decisions are about. */
export function runWebhookResponse(
  { subscription, skipped, delivery }: RunDecision,
  run: Pick<DeliveryRow, 'workflowId' | 'executionId' | 'version' | 'versionName' | 'endedAt'>,
): RunWebhook {
  const { id, url } = subscription
  const shown = { webhookId: id, url }
  if (!delivery) return { ...shown, ...skips[skipped ?? 'inactive'], delivery: null }
  return {
    ...shown,
    decision: delivery.state === 'pending' ? 'queued' : delivery.state,
    reason: reasonOf(delivery),
    delivery: deliveryResponse({ ...delivery, ...run, event: 'completed', subscriptionId: id, url }),
  }
}

const skips = {
  inactive: { decision: 'inactive', reason: 'The webhook was switched off when the run ended.' },
  event: { decision: 'filtered_by_event', reason: 'The webhook does not select the event completed.' },
  level: { decision: 'filtered_by_level', reason: 'Its levelFilter does not admit the level of the run.' },
  trigger: { decision: 'filtered_by_trigger', reason: 'Its triggerFilter does not admit what started the run.' },
} as const

function reasonOf({ state, attempts, dueAt, lastAttempt }: Delivery & { lastAttempt: DeliveryAttempt | null }): string {
  const failure = lastAttempt?.failure ? ` ${sentence(lastAttempt.failure.message)}` : ''
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  switch (state) {
    case 'pending':
      if (attempts === 0) return 'It waits for its first attempt.'
      return `${tries} failed.${failure} The next attempt is due at ${isoTime(dueAt ?? 0)}.`
    case 'delivered':
      return `The receiver accepted it after ${tries}.`
    case 'failed':
      return `It failed for good after ${tries}.${failure}`
    case 'cancelled':
      return `It was cancelled after ${tries}.${failure}`
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
