import { AppError } from '../domain/errors.ts'
import { deliveryIdOf, newExecutionId, sequenceAt } from '../domain/ids.ts'
import type { DeliveryAttempt, DeliverySource } from '../domain/webhook/delivery.ts'
import { include, type SubscriptionRow } from '../domain/webhook/subscription.ts'
import { type DeliverOptions, deliver, notSendable } from './deliver.ts'
import { type Limits, limitFactsText, payloadOf } from './payload.ts'
import { Receivers, type ReceiversOptions } from './receivers.ts'

export type TrialsOptions = ReceiversOptions &
  Pick<DeliverOptions, 'post' | 'clock' | 'random' | 'timeoutMs'> & {
    /** The limits of the account that a workspace belongs to. */
    limitsOf(workspaceId: string): Promise<Limits>
  }

/** What was sent, and what came of it. */
export type Trial = { deliveryId: string; body: string; attempt: DeliveryAttempt }

/** Sends what a run might, signed as it would be, so that people see a receiver work. Nothing is kept or tried again. */
export class Trials {
  readonly #options: TrialsOptions
  readonly #receivers: Receivers

  constructor(options: TrialsOptions) {
    this.#options = options
    this.#receivers = new Receivers(options)
  }

  /** OVERLOADED when `signal` or the service's stop ended it. */
  readonly run = async (subscription: SubscriptionRow, signal: AbortSignal): Promise<Trial> => {
    const { number, workspaceId } = subscription
    const { clock, limitsOf } = this.#options
    const receiver = await this.#receivers.once(number)
    const source = trialSource(subscription, await limitsOf(workspaceId), clock.now())
    const deliveryId = deliveryIdOf({ sequence: source.sequence, subscription: number }, source.executionId)
    const body = payloadOf(source, subscription.include)
    const delivery = { attempts: 0, attemptsBefore: 0 }
    const ended = receiver.problem
      ? notSendable(delivery, receiver.problem, clock.now())
      : await deliver({ delivery, deliveryId, body, receiver, signal }, { ...this.#options, attemptsMax: 1 })
    if (ended === 'cut') throw new AppError('OVERLOADED', 'The test was broken off.')
    return { deliveryId, body, attempt: ended.attempt }
  }
}

/**
 * A run that never was: one that the filters of a subscription admit, with everything that it asks for. Its execution id
 * begins with `test_`, which no run's does.
 */
export function trialSource(subscription: SubscriptionRow, limits: Limits, now: number): DeliverySource {
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
    cost: null,
    finalOutput: JSON.stringify(output),
    traceSpans: JSON.stringify([trialSpan(level, startedAt, now)]),
    files: null,
    facts: subscription.include & (include.rateLimits | include.usage) ? limitFactsText(limits) : null,
  }
}

const durationMs = 1_000

function trialSpan(level: 'info' | 'error', startedAt: number, endedAt: number) {
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
