import { type AlertRow, receiverOf } from '../domain/alert/alert.ts'
import { testFiring } from '../domain/alert/test-firing.ts'
import { AppError } from '../domain/errors.ts'
import { deliveryIdOf, newExecutionId, sequenceAt } from '../domain/ids.ts'
import type { DeliveryAttempt, DeliverySource } from '../domain/webhook/delivery.ts'
import { include, type SubscriptionRow } from '../domain/webhook/subscription.ts'
import { type DeliverOptions, deliver, notSendable } from './deliver.ts'
import { eventOf, type Limits, limitFactsText, originOf, payloadOf } from './payload.ts'
import { Receivers, type ReceiversOptions } from './receivers.ts'

export type TestDeliveriesOptions = ReceiversOptions &
  Pick<DeliverOptions, 'post' | 'mailer' | 'takeMail' | 'clock' | 'random' | 'timeoutMs'> & {
    /** The limits of the account that owns a workspace. */
    limitsOf(workspaceId: string): Promise<Limits>
  }

/** The content of a test delivery, and its attempt. */
export type TestDelivery = { deliveryId: string; body: string; attempt: DeliveryAttempt }

/**
 * Sends an example of a webhook, signed like a real one, so that users can test a receiver. It is not stored or
 * retried.
 */
export class TestDeliveries {
  readonly #options: TestDeliveriesOptions
  readonly #receivers: Receivers

  constructor(options: TestDeliveriesOptions) {
    this.#options = options
    this.#receivers = new Receivers(options)
  }

  /** Throws OVERLOADED when `signal` or the service's stop ended the request. */
  readonly run = async (subscription: SubscriptionRow, signal: AbortSignal): Promise<TestDelivery> => {
    const { number, workspaceId, include: wanted } = subscription
    const { clock, limitsOf } = this.#options
    return await this.#send(number, testSource(subscription, await limitsOf(workspaceId), clock.now()), signal, wanted)
  }

  /** The same for an alert. */
  readonly runAlert = async (alert: AlertRow, signal: AbortSignal): Promise<TestDelivery> => {
    const at = this.#options.clock.now()
    const content = JSON.stringify(testFiring(alert, at))
    const source = { sequence: sequenceAt(at), alertId: alert.id, at, alert: content }
    return await this.#send(receiverOf(alert.number), source, signal)
  }

  async #send(number: number, source: DeliverySource, signal: AbortSignal, wanted = 0): Promise<TestDelivery> {
    const { clock } = this.#options
    const receiver = await this.#receivers.once(number)
    const deliveryId = deliveryIdOf({ sequence: source.sequence, subscription: number }, originOf(source))
    const body = payloadOf(source, wanted)
    const delivery = { attempts: 0, attemptsBefore: 0 }
    const ended = receiver.problem
      ? notSendable(delivery, receiver.problem, clock.now())
      : await deliver(
          { delivery, deliveryId, event: eventOf(source), body, receiver, signal },
          { ...this.#options, attemptsMax: 1 },
        )
    if (ended === 'interrupted') throw new AppError('OVERLOADED', 'The test delivery was cancelled before it ended.')
    return { deliveryId, body, attempt: ended.attempt }
  }
}

/**
 * An example run that the filters of a subscription admit, with everything that it includes. Its execution ID begins
 * with `test_`, unlike the ID of any real run.
 */
export function testSource(subscription: SubscriptionRow, limits: Limits, now: number): DeliverySource {
  const { workflowId, levelFilter, triggerFilter } = subscription
  const level = levelFilter?.includes('info') === false ? 'error' : 'info'
  const output = level === 'info' ? { test: true } : { error: 'This is a test', code: 'EXECUTION_FAILED' }
  const startedAt = now - durationMs
  return {
    sequence: sequenceAt(now),
    workflowId,
    executionId: `test_${newExecutionId()}`,
    level,
    trigger: triggerFilter?.[0] ?? 'manual',
    startedAt,
    endedAt: now,
    durationMs,
    pausedMs: null,
    cost: null,
    finalOutput: JSON.stringify(output),
    traceSpans: JSON.stringify([testSpan(level, startedAt, now)]),
    files: null,
    facts: subscription.include & (include.rateLimits | include.usage) ? limitFactsText(limits) : null,
  }
}

const durationMs = 1_000

function testSpan(level: 'info' | 'error', startedAt: number, endedAt: number) {
  return {
    id: 'test',
    name: 'Test',
    type: 'workflow',
    blockId: null,
    status: level === 'info' ? 'success' : 'error',
    startTime: new Date(startedAt).toISOString(),
    endTime: new Date(endedAt).toISOString(),
    duration: durationMs,
    input: {},
    output: null,
    children: [],
  }
}
