import type { DeliveryKey } from './webhook/delivery.ts'

/** All identifiers are created in this file. */

export function newId(): string {
  return crypto.randomUUID()
}

/** Time-ordered, so that an index over millions of IDs only grows at its end. */
export function newExecutionId(): string {
  return Bun.randomUUIDv7()
}

/** 2025-01-01T00:00:00Z. Sequences count from here and stay exact integers until 2059. */
const sequenceEpochMs = 1_735_689_600_000
const sequencesPerMs = 8_192
const sequencesMax = (Date.UTC(2059, 0, 1) - sequenceEpochMs) * sequencesPerMs

/**
 * Creates the numbers by which log entries are sorted: the millisecond of recording and a counter in one integer.
 * Strictly increasing, even when the clock is set back and across restarts (`after` is the highest number on disk).
 */
export class LogSequence {
  #last: number
  readonly #now: () => number
  readonly #share: { count: number; own(): number }

  /** `share`: with several processes, each uses its own of every `count` numbers, so that no two are equal. */
  constructor(now: () => number, after = 0, share: { count: number; own(): number } = whole) {
    this.#now = now
    this.#last = after
    this.#share = share
  }

  next(): number {
    const at = sequenceAt(this.#now())
    // A wrong clock may report any year. After a run with an impossible number, no other run could get a higher one.
    const least = Math.max(this.#last + 1, at <= sequencesMax ? at : 0)
    const { count } = this.#share
    this.#last = least + ((this.#share.own() - (least % count) + count) % count)
    return this.#last
  }
}

const whole = { count: 1, own: () => 0 }

/** Everything recorded at or after a time (epoch milliseconds) has this sequence or a higher one. */
export function sequenceAt(atMs: number): number {
  return (atMs - sequenceEpochMs) * sequencesPerMs
}

/** The time (epoch milliseconds) of a sequence, or slightly earlier. */
export function timeOfSequence(sequence: number): number {
  return sequenceEpochMs + Math.floor(sequence / sequencesPerMs)
}

const idPrefix = 'log_'
const idDigits = 11

/** `log_` and 11 base-36 digits. IDs sort like their sequences. */
export function logIdOf(sequence: number): string {
  return idPrefix + sequence.toString(36).padStart(idDigits, '0')
}

/** The sequence of a log ID; undefined when the text is not a log ID. */
export function sequenceOf(logId: string): number | undefined {
  if (logId.length !== idPrefix.length + idDigits || !/^log_[0-9a-z]+$/.test(logId)) return undefined
  const sequence = Number.parseInt(logId.slice(idPrefix.length), 36)
  return Number.isSafeInteger(sequence) ? sequence : undefined
}

/**
 * The event ID of a run's end, the same for all subscriptions. It consists of the digits of the log ID and the last
 * digits of the execution ID. Those are random, because receivers detect duplicates by this ID across several senders.
 */
export function eventIdOf(sequence: number, executionId: string): string {
  return `evt_${eventDigits(sequence, executionId)}`
}

/** The ID of an event's delivery to one subscription: the digits of the event and the subscription's number. */
export function deliveryIdOf({ sequence, subscription }: DeliveryKey, executionId: string): string {
  return `dlv_${eventDigits(sequence, executionId)}${subscription.toString(36)}`
}

/** The key of a delivery; undefined when the text is not a delivery ID. Does not check the execution's digits. */
export function deliveryKeyOf(deliveryId: string): DeliveryKey | undefined {
  const [, first = '', second = ''] = /^dlv_([0-9a-z]{11})[0-9a-z]{12}([1-9a-z][0-9a-z]{0,9})$/.exec(deliveryId) ?? []
  const key = { sequence: Number.parseInt(first, 36), subscription: Number.parseInt(second, 36) }
  return Number.isSafeInteger(key.sequence) && Number.isSafeInteger(key.subscription) ? key : undefined
}

function eventDigits(sequence: number, executionId: string): string {
  return sequence.toString(36).padStart(idDigits, '0') + lastDigitsOf(executionId)
}

/** The last digits of a UUID contain no dashes. */
function lastDigitsOf(executionId: string): string {
  const last = executionId.slice(-executionDigits)
  if (/^[0-9a-z]{12}$/.test(last)) return last
  const digits = executionId.toLowerCase().replace(/[^0-9a-z]/g, '')
  return digits.slice(-executionDigits).padStart(executionDigits, '0')
}

const executionDigits = 12
