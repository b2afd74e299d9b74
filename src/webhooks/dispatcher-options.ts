import type { Store } from '../store/store.ts'
import type { AttemptsOptions } from './attempts.ts'
import type { DeliveryCommandsOptions } from './delivery-commands.ts'
import type { ReceiversOptions } from './receivers.ts'

export type DispatcherOptions = ReceiversOptions &
  Omit<AttemptsOptions, 'read'> & {
    store: OutboxStore
    /** Attempts in flight at once, in all and to one origin. */
    concurrency: number
    hostConcurrency: number
    /** Whether the claims of this process count now. True when absent. */
    mayStart?(): boolean
  }

export type OutboxStore = DeliveryCommandsOptions['store'] &
  Pick<Store, 'getSubscriptions' | 'pendingSubscriptions' | 'nextDeliveries' | 'readDeliveries'>
