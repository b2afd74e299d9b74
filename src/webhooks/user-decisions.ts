import type { DeliveryKey } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import type { Store } from '../store/store.ts'
import type { Lane } from './lane.ts'

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
    const { store, now, findLane, expect } = this.#options
    if (findLane(key.subscription)?.withdraw(key.sequence) === false) throw beingDelivered()
    try {
      return await store.sendAgain(key, now())
    } finally {
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
    const { store, findLane, expect } = this.#options
    const lane = findLane(key.subscription)
    const item = lane?.get(key.sequence)
    const isBusy = lane?.withdraw(key.sequence) === false
    if (item && isBusy) item.isCancelled = true
    try {
      return await store.cancelDelivery(key)
    } finally {
      if (!isBusy) expect(key, 0)
    }
  }
}

const resentAtOnce = 500

function beingDelivered(): AppError {
  return new AppError('CONFLICT', 'It is being delivered at this moment. Try again when that has ended.')
}
