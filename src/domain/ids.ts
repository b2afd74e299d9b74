import type { DeliveryKey } from './delivery.ts'

/** Identifiers: made here and nowhere else. */

export function newId(): string {
  return crypto.randomUUID()
}

/** Time-ordered, so that an index over millions of them grows at its end. */
export function newExecutionId(): string {
  return Bun.randomUUIDv7()
}

/** 2025-01-01T00:00:00Z: sequences count from here, and stay exact integers until 2059. */
const sequenceEpochMs = 1_735_689_600_000
const sequencesPerMs = 8_192

/**
 * Gives the numbers that log entries are sorted by: the millisecond of recording and a counter in one integer.
 * Strictly rising, also when the clock goes back and across restarts (`after` is the highest one on disk).
 */
export class LogSequence {
  #last: number
  #now: () => number

  constructor(now: () => number, after = 0) {
    this.#now = now
    this.#last = after
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, sequenceAt(this.#now()))
    return this.#last
  }
}

/** What is recorded at a time (epoch milliseconds) or after it has this sequence or a higher one. */
export function sequenceAt(atMs: number): number {
  return (atMs - sequenceEpochMs) * sequencesPerMs
}

const idPrefix = 'log_'
const idDigits = 11

/** `log_` and 11 base-36 digits: ids sort as their sequences do. */
export function logIdOf(sequence: number): string {
  return idPrefix + sequence.toString(36).padStart(idDigits, '0')
}

/** The sequence of a log id, or undefined when the text is none. */
export function sequenceOf(logId: string): number | undefined {
  if (logId.length !== idPrefix.length + idDigits || !/^log_[0-9a-z]+$/.test(logId)) return undefined
  const sequence = Number.parseInt(logId.slice(idPrefix.length), 36)
  return Number.isSafeInteger(sequence) ? sequence : undefined
}

/** The event that a run's end is: one for all subscriptions that are told of it. */
export function eventIdOf(sequence: number): string {
  return `evt_${sequence.toString(36).padStart(idDigits, '0')}`
}

/** `dlv_`, the sequence as in a log id, and the number of the subscription in base 36. */
export function deliveryIdOf({ sequence, subscription }: DeliveryKey): string {
  return `dlv_${sequence.toString(36).padStart(idDigits, '0')}${subscription.toString(36)}`
}

/** What a delivery id stands for, or undefined when the text is none. */
export function deliveryKeyOf(deliveryId: string): DeliveryKey | undefined {
  const [, sequenceText = '', subscriptionText = ''] =
    /^dlv_([0-9a-z]{11})([1-9a-z][0-9a-z]{0,9})$/.exec(deliveryId) ?? []
  const key = { sequence: Number.parseInt(sequenceText, 36), subscription: Number.parseInt(subscriptionText, 36) }
  return Number.isSafeInteger(key.sequence) && Number.isSafeInteger(key.subscription) ? key : undefined
}
