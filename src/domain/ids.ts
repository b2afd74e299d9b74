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
const sequencesMax = (Date.UTC(2059, 0, 1) - sequenceEpochMs) * sequencesPerMs

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
    const at = sequenceAt(this.#now())
    // A clock that was never set may say any year. One run with a number that cannot be counted on from would be the last.
    this.#last = Math.max(this.#last + 1, at <= sequencesMax ? at : 0)
    return this.#last
  }
}

/** What is recorded at a time (epoch milliseconds) or after it has this sequence or a higher one. */
export function sequenceAt(atMs: number): number {
  return (atMs - sequenceEpochMs) * sequencesPerMs
}

/** The time (epoch milliseconds) at which a sequence was given, or somewhat before. */
export function timeOfSequence(sequence: number): number {
  return sequenceEpochMs + Math.floor(sequence / sequencesPerMs)
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

/**
 * The event that the end of a run is: one for all subscriptions that are told of it. The digits of the log id, then the
 * last of the execution's own, which are random: receivers tell duplicates by these ids, and may have several senders.
 */
export function eventIdOf(sequence: number, executionId: string): string {
  return `evt_${eventDigits(sequence, executionId)}`
}

/** What an event is to one subscription, by its number: the digits of the event and the number in base 36. */
export function deliveryIdOf({ sequence, subscription }: DeliveryKey, executionId: string): string {
  return `dlv_${eventDigits(sequence, executionId)}${subscription.toString(36)}`
}

/** Where a delivery is found, or undefined when the text is no delivery id. What it holds of the execution is not checked. */
export function deliveryKeyOf(deliveryId: string): DeliveryKey | undefined {
  const [, first = '', second = ''] = /^dlv_([0-9a-z]{11})[0-9a-z]{12}([1-9a-z][0-9a-z]{0,9})$/.exec(deliveryId) ?? []
  const key = { sequence: Number.parseInt(first, 36), subscription: Number.parseInt(second, 36) }
  return Number.isSafeInteger(key.sequence) && Number.isSafeInteger(key.subscription) ? key : undefined
}

function eventDigits(sequence: number, executionId: string): string {
  return sequence.toString(36).padStart(idDigits, '0') + lastDigitsOf(executionId)
}

/** Those of a UUID stand together at its end. */
function lastDigitsOf(executionId: string): string {
  const last = executionId.slice(-executionDigits)
  if (/^[0-9a-z]{12}$/.test(last)) return last
  const digits = executionId.toLowerCase().replace(/[^0-9a-z]/g, '')
  return digits.slice(-executionDigits).padStart(executionDigits, '0')
}

const executionDigits = 12
