import { AppError } from '../domain/errors.ts'
import type { DeliveryKey } from '../domain/webhook/delivery.ts'
import type { Store } from '../store/store.ts'
import type { Item, Lane } from './lane.ts'

export type UserDecisionsOptions = {
  store: Pick<Store, 'sendAgain' | 'resendFailed' | 'cancelDelivery'>
  /** Epoch milliseconds. */
  now(): number
  /** The lane of a subscription, when it has one. */
  findLane(subscription: number): Lane | undefined
  /** Has the lane of a delivery look on disk, where it may be due from then on. */
  expect(key: DeliveryKey, dueAt: number): void
}

/**
 * What people decide about deliveries. It is written first; the lane is told that things are not as they were, and reads
 * them from the disk.
 */
export class UserDecisions {
  readonly #options: UserDecisionsOptions

  constructor(options: UserDecisionsOptions) {
    this.#options = options
  }

  /**
   * Makes a delivery due now, whatever became of it: in the place of a retry that waits, with the attempts that this one
   * had left. False when it is gone; CONFLICT while an attempt is on its way.
   */
  async resend(key: DeliveryKey): Promise<boolean> {
    const { store, now, expect } = this.#options
    if (this.#withdraw(key)) throw beingDelivered()
    try {
      return await store.sendAgain(key, now())
    } finally {
      this.#withdraw(key)
      expect(key, 0)
    }
  }

  /** The same for all that failed of a workflow's runs from sequence `since` on; how many those are. */
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

  /** False when it does not pend. An attempt that is on its way goes on, and is the last. */
  async cancel(key: DeliveryKey): Promise<boolean> {
    const { store, expect } = this.#options
    const before = this.#withdraw(key)
    if (before) before.isCancelled = true
    try {
      return await store.cancelDelivery(key)
    } finally {
      const busy = this.#withdraw(key)
      if (busy) busy.isCancelled = true
      else expect(key, 0)
    }
  }

  /** Before it is decided and after: its lane may have read it meanwhile, as it was. The item when that is busy, and stays. */
  #withdraw({ sequence, subscription }: DeliveryKey): Item | undefined {
    const lane = this.#options.findLane(subscription)
    return lane?.withdraw(sequence) === false ? lane.get(sequence) : undefined
  }
}

const resentAtOnce = 500

function beingDelivered(): AppError {
  return new AppError('CONFLICT', 'It is being delivered at this moment. Try again when that has ended.')
}
