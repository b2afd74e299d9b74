import type { AccountStore } from './account-store.ts'
import type { AlertStore } from './alerts/alert-store.ts'
import type { ConnectorStore } from './connector-store.ts'
import type { CredentialStore } from './credential-store.ts'
import type { DashboardStore } from './dashboard-store.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { EntryStore } from './entries/entry-store.ts'
import type { OAuthStore } from './oauth-store.ts'
import type { PollStore } from './poll-store.ts'
import type { PresenceStore } from './presence-store.ts'
import type { ProcessStore } from './process-store.ts'
import type { RunStore } from './run-store.ts'
import type { SessionStore } from './session-store.ts'
import type { WorkflowStore } from './workflow-store.ts'

/**
 * The port to durable storage, composed of one part per subject. Every call is asynchronous and is one transaction; no
 * callback crosses it. Times are epoch milliseconds. A call rejects with an `AppError`: `CONFLICT` or `NOT_FOUND` where
 * its comment says so, `STORAGE_UNAVAILABLE` when the disk is full or failing. Any other error is a bug.
 */
export interface Store
  extends AccountStore,
    ConnectorStore,
    CredentialStore,
    SessionStore,
    OAuthStore,
    WorkflowStore,
    PollStore,
    RunStore,
    DeliveryStore,
    EntryStore,
    DashboardStore,
    AlertStore,
    PresenceStore,
    ProcessStore {
  /** Deletes some of the oldest log entries beyond the bounds. Call it again until it returns `done`. */
  retain(bounds: RetentionBounds): Promise<RetentionStep>

  /** Sizes and queues, for metrics. */
  measure(): Promise<DiskStats>

  /** Whether a commit would work now; never throws. It also recovers from an earlier failure where possible. */
  probe(): Promise<boolean>
  close(): Promise<void>
}

export type DiskStats = {
  databaseBytes: number
  /** Unused pages inside the database. */
  freeBytes: number
  walBytes: number
  /** Free disk space for this user; null when the store cannot know it. */
  diskFreeBytes: number | null
  /** Pending webhook deliveries, and when the first of them is or was due; null when there are none. */
  deliveries: { pending: number; oldestDueAt: number | null }
  /** Calls that wait for each of the store's threads; none when it has no threads. */
  callsWaiting: Readonly<Record<string, number>>
  /** The connections of this process to a database server; null when the store has none. */
  connections: PoolUse | null
}

/** `waiting`: calls that wait for a connection. */
export type PoolUse = { busy: number; idle: number; waiting: number }

export type RetentionBounds = {
  /** Entries with a lower sequence are deleted: those recorded before a time (`sequenceAt` of domain/ids.ts). */
  before: number
  /** While the database is larger than this, in bytes, the oldest entries are deleted. Free pages do not count. */
  bytesMax: number
  /** How long the step may work before it commits. Even with 0 it makes some progress. */
  workMs: number
  /** The `heldTo` of the previous step of this round. */
  after?: number
}

export type RetentionStep = {
  /** Log entries deleted. */
  entries: number
  /** Bytes by which the file became smaller. */
  bytesFreed: number
  /** Used bytes of the database after the step. */
  usedBytes: number
  /** How long other writes had to wait for this step at most, in milliseconds. */
  heldMs: number
  /**
   * Up to this sequence only entries with pending deliveries are left; 0 when there are none. They stay until these
   * deliveries have ended, or the disk is full.
   */
  heldTo: number
  /** An estimate of the bytes still to delete. */
  leftBytes: number
  /** Whether there is nothing more to do. */
  done: boolean
}
