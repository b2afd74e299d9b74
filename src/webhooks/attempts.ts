import { type Clock, sleep } from '../domain/clock.ts'
import { isRefusedForNow } from '../domain/errors.ts'
import { deliveryIdOf } from '../domain/ids.ts'
import type { OutboundRequest } from '../domain/outbound-request.ts'
import type { LogRow } from '../domain/run/log.ts'
import type { DeliveryAttempt, EndedAttempt } from '../domain/webhook/delivery.ts'
import { Bodies, type BodiesOptions } from './bodies.ts'
import { type Delivered, type DeliverOptions, deliver, notSendable } from './deliver.ts'
import type { Receiver } from './receivers.ts'
import type { QueuedDelivery, Source } from './subscription-queue.ts'

export type AttemptsOptions = BodiesOptions &
  Pick<DeliverOptions, 'post' | 'mailer' | 'takeMail' | 'random' | 'attemptsMax' | 'timeoutMs'> & {
    /** Writes an attempt; resolves when it is on disk. */
    write(attempt: EndedAttempt): Promise<void>
    clock: Clock
    /** The headers of deliveries of a run that ended. Absent when runs are not exported as traces. */
    traceHeadersOf?: ((executionId: string) => OutboundRequest['headers']) | undefined
    /** Called for each attempt that has ended. */
    onAttempt?(attempt: DeliveryAttempt): void
    /** Called with the time between a run's commit and the first attempt of its webhook. */
    onFirstAttempt?(waitedMs: number): void
    /** Called with unexpected errors of the service itself. */
    onBug(error: unknown): void
  }

/** Makes attempts: reads what the body needs, sends it, and writes the outcome. */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #bodies: Bodies
  readonly #life = new AbortController()

  constructor(options: AttemptsOptions) {
    this.#options = options
    this.#bodies = new Bodies(options)
  }

  /** Keeps a run that has just ended for `uses` deliveries; undefined without room: it is read from disk later. */
  sourceOf(row: LogRow, uses: number): Source | undefined {
    return this.#bodies.sourceOf(row, uses)
  }

  /** Starts to read the runs of these deliveries from the log. */
  readAhead(items: readonly QueuedDelivery[]): void {
    void this.#bodies.readAhead(items)
  }

  /** Characters of the body of a delivery, or an estimate. */
  charsOf(item: QueuedDelivery | undefined): number {
    return item ? this.#bodies.charsOf(item) : 0
  }

  /** Releases the source of a delivery. */
  release(item: QueuedDelivery): void {
    this.#bodies.release(item)
  }

  releaseOne(source: Source | undefined): void {
    this.#bodies.releaseOne(source)
  }

  /**
   * Never rejects. `unreadable`: the run cannot be read now. `interrupted`: the service ended the attempt, so it does
   * not count.
   */
  async make(item: QueuedDelivery, receiver: Receiver): Promise<Delivered | 'unreadable'> {
    const { clock, onFirstAttempt, onAttempt, onBug } = this.#options
    try {
      const message = receiver.problem ? undefined : await this.#bodies.of(item)
      if (item.committedAt !== undefined) onFirstAttempt?.(clock.monotonic() - item.committedAt)
      item.committedAt = undefined
      const ended = message
        ? await deliver(
            {
              delivery: item,
              deliveryId: deliveryIdOf(item, message.origin),
              event: message.event,
              body: message.body,
              receiver,
              signal: this.#life.signal,
              traceHeaders: message.event === 'completed' ? this.#options.traceHeadersOf?.(message.origin) : undefined,
            },
            this.#options,
          )
        : notSendable(item, receiver.problem ?? entryIsGone, clock.now())
      if (ended === 'interrupted') return ended
      this.#bodies.release(item)
      onAttempt?.(ended.attempt)
      return ended
    } catch (error) {
      if (!isRefusedForNow(error)) onBug(error)
      return 'unreadable'
    }
  }

  /** Retries until the outcome is on disk; false when the service stops before. Then the attempt is made once more. */
  async record({ sequence, subscription }: QueuedDelivery, ended: Exclude<Delivered, 'interrupted'>): Promise<boolean> {
    const { write, clock, onBug } = this.#options
    for (;;) {
      try {
        await write({ delivery: { sequence, subscription }, ...ended })
        return true
      } catch (error) {
        if (!isRefusedForNow(error)) onBug(error)
      }
      try {
        await sleep(clock, retryMs, this.#life.signal)
      } catch {
        return false
      }
    }
  }

  /** Ends the attempts in flight. */
  stop(): void {
    this.#life.abort()
  }
}

const retryMs = 1_000

const entryIsGone = { code: 'NOT_SENDABLE', message: 'The log entry of the run is gone' } as const
