import type {
  AttemptOutcome,
  DeliveryAttempt,
  DeliveryKey,
  EndedAttempt,
} from '../../../src/domain/webhook/delivery.ts'

const endedAt = 1_700_000_000_012

export function endedAttempt(
  delivery: DeliveryKey,
  outcome: AttemptOutcome,
  more: Partial<DeliveryAttempt> = {},
): EndedAttempt {
  const failure = { code: 'HTTP_ERROR' as const, message: 'The receiver responded with 500' }
  const isDelivered = outcome.state === 'delivered'
  const attempt = {
    ...{ number: 1, startedAt: endedAt, durationMs: 2.5, answer: null },
    ...(isDelivered ? { status: 200, failure: null } : { status: 500, failure }),
    ...more,
  }
  return { delivery, attempt, outcome }
}
