import { AppError } from '../domain/errors.ts'
import type { DeliveryKey } from '../domain/webhook/delivery.ts'
import type { Store } from '../store/store.ts'
import type { QueuedDelivery, SubscriptionQueue } from './subscription-queue.ts'

export type DeliveryCommandsOptions = {
  store: Pick<Store, 'sendAgain' | 'resendFailed' | 'cancelDelivery'>
  /** Epoch milliseconds. */
  now(): number
  /** The queue of a subscription, if it has one. */
  findQueue(subscription: number): SubscriptionQueue | undefined
  /** Tells the queue of a delivery that the delivery on disk may be due at `dueAt`. */
  expect(key: DeliveryKey, dueAt: number): void
}

/** The commands of users on deliveries. A command changes the disk first; then the queue reads the delivery again. */
export class DeliveryCommands {
  readonly #options: DeliveryCommandsOptions

  constructor(options: DeliveryCommandsOptions) {
    this.#options = options
  }

  /**
   * Makes a delivery due now, whatever its state. It replaces a pending retry and shares its remaining attempts. False
   * when the delivery is gone. Throws CONFLICT while an attempt is in flight.
   */
  async resend(key: DeliveryKey): Promise<boolean> {
    const { store, now, expect } = this.#options
    if (this.#remove(key)) throw beingDelivered()
    try {
      return await store.sendAgain(key, now())
    } finally {
      this.#remove(key)
      expect(key, 0)
    }
  }

  /** Resends all failed deliveries of a workflow's runs from sequence `since` on; gives their number. */
  async resendFailed(workflowId: string, since: number): Promise<number> {
    const { store, now, expect } = this.#options
    let count = 0
    let after: DeliveryKey | undefined
    for (;;) {
      const at = now()
      const { keys, position } = await store.resendFailed({ workflowId, since, after, at, limit: resentAtOnce })
      for (const key of keys) expect(key, at)
      count += keys.length
      if (position === null) return count
      after = position
    }
  }

  /** False when the delivery is not pending. An attempt in flight continues and is the last one. */
  async cancel(key: DeliveryKey): Promise<boolean> {
    const { store, expect } = this.#options
    const before = this.#remove(key)
    if (before) before.isCancelled = true
    try {
      return await store.cancelDelivery(key)
    } finally {
      const busy = this.#remove(key)
      if (busy) busy.isCancelled = true
      else expect(key, 0)
    }
  }

  /** Another process made a change: the delivery is read again, after an attempt in flight. */
  changedElsewhere(key: DeliveryKey): void {
    if (!this.#options.findQueue(key.subscription)) return
    const busy = this.#remove(key)
    if (busy) busy.isCancelled = true
    else this.#options.expect(key, 0)
  }

  /**
   * Called before and after each change, because the queue may have read the old state in between. Gives the delivery
   * if it is busy: then it stays in the queue.
   */
  #remove({ sequence, subscription }: DeliveryKey): QueuedDelivery | undefined {
    const queue = this.#options.findQueue(subscription)
    return queue?.remove(sequence) === false ? queue.get(sequence) : undefined
  }
}

const resentAtOnce = 500

function beingDelivered(): AppError {
  return new AppError('CONFLICT', 'An attempt for this delivery is in flight. Try again when it has ended.')
}
