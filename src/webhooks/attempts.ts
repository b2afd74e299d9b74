import { type Clock, sleep } from '../domain/clock.ts'
import { isRefusedForNow } from '../domain/errors.ts'
import { deliveryIdOf } from '../domain/ids.ts'
import type { LogRow } from '../domain/run/log.ts'
import type { DeliveryAttempt, EndedAttempt } from '../domain/webhook/delivery.ts'
import { Bodies, type BodiesOptions } from './bodies.ts'
import { type Delivered, type DeliverOptions, deliver, notSendable } from './deliver.ts'
import type { Item, Source } from './lane.ts'
import type { Receiver } from './receivers.ts'

export type AttemptsOptions = BodiesOptions &
  Pick<DeliverOptions, 'post' | 'random' | 'attemptsMax' | 'timeoutMs'> & {
    /** Writes down an attempt; resolves when it is on disk. */
    write(attempt: EndedAttempt): Promise<void>
    clock: Clock
    /** Told of each attempt that has ended. */
    onAttempt?(attempt: DeliveryAttempt): void
    /** Told how long a run was on disk before its webhook was first tried. */
    onFirstAttempt?(waitedMs: number): void
    /** Told of what was wrong inside. */
    onBug(error: unknown): void
  }

/** Leads one attempt at a time from its body to the disk. */
export class Attempts {
  readonly #options: AttemptsOptions
  readonly #bodies: Bodies
  readonly #life = new AbortController()

  constructor(options: AttemptsOptions) {
    this.#options = options
    this.#bodies = new Bodies(options)
  }

  /** What so many deliveries of a run that has just ended are made of; undefined: it is read from the disk again. */
  sourceOf(row: LogRow, uses: number): Source | undefined {
    return this.#bodies.sourceOf(row, uses)
  }

  /** Has what these are made of read from the log. */
  readAhead(items: readonly Item[]): void {
    void this.#bodies.readAhead(items)
  }

  /** Characters of the body of a delivery, or about as many as it will have. */
  charsOf(item: Item | undefined): number {
    return item ? this.#bodies.charsOf(item) : 0
  }

  /** A delivery that is not in memory any more, or not with what it is made of. */
  release(item: Item): void {
    this.#bodies.release(item)
  }

  releaseOne(source: Source | undefined): void {
    this.#bodies.releaseOne(source)
  }

  /** Never rejects. `unmade`: what it takes could not be read now. `cut`: the service ended it; it does not count. */
  async make(item: Item, receiver: Receiver): Promise<Delivered | 'unmade'> {
    const { clock, onFirstAttempt, onAttempt, onBug } = this.#options
    try {
      const message = receiver.problem ? undefined : await this.#bodies.of(item)
      if (item.committedAt !== undefined) onFirstAttempt?.(clock.monotonic() - item.committedAt)
      item.committedAt = undefined
      const ended = message
        ? await deliver(
            {
              delivery: item,
              deliveryId: deliveryIdOf(item, message.executionId),
              body: message.body,
              receiver,
              signal: this.#life.signal,
            },
            this.#options,
          )
        : notSendable(item, receiver.problem ?? entryIsGone, clock.now())
      if (ended === 'cut') return ended
      this.#bodies.release(item)
      onAttempt?.(ended.attempt)
      return ended
    } catch (error) {
      if (!isRefusedForNow(error)) onBug(error)
      return 'unmade'
    }
  }

  /** Again and again until it is on disk; false when the service stops before: then the attempt is made once more. */
  async record({ sequence, subscription }: Item, ended: Exclude<Delivered, 'cut'>): Promise<boolean> {
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

  /** Ends what is on its way. */
  stop(): void {
    this.#life.abort()
  }
}

const retryMs = 1_000

const entryIsGone = { code: 'NOT_SENDABLE', message: 'The log entry of the run is gone' } as const
