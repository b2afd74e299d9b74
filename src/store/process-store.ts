import type { Debounced, DebounceStart } from '../domain/run/debounce.ts'
import type { SharedGroupAnswer, SharedGroupAsk } from '../domain/run/shared-starts.ts'
import type { DeliveryKey } from '../domain/webhook/delivery.ts'

/**
 * The part of the port for the processes that serve one installation. A process claims work before it does it: jobs,
 * and deliveries of the runs that it recorded. Its claims count as long as it checks in. What a process claims after it
 * has lost its lease, or writes for work that another process has taken over, is refused.
 *
 * A store that only one process can serve has nothing to claim and nobody to look for.
 */
export interface ProcessStore {
  /** Which sequences of log entries this process uses: from every `count` in a row, the one at `own()`. */
  readonly sequenceShare: SequenceShare
  /** How many waiting jobs a process holds. With several processes, what one holds the others cannot run. */
  readonly jobWindow: JobWindow
  /**
   * Keeps this process's claims, takes from processes that are gone what they had claimed, and tells what has happened
   * since the last call. Call it about every second. Null: no other process can serve this store; need not be called
   * again.
   */
  checkIn(own: OwnWork): Promise<CheckIn | null>
  /**
   * Tells other processes which keys this one encrypts and decrypts with. CONFLICT when it could not read what another
   * process writes, or the other way round; then it no longer counts as a process.
   */
  announceKeys(heads: readonly Uint8Array[]): Promise<void>
  /** The processes that serve the installation, oldest first; none if only one can. */
  listProcesses(): Promise<ProcessRow[]>
  /** Asks a process to take no more work. False when there is no such process. */
  drainProcess(id: string): Promise<boolean>
  /** Claims pending deliveries of processes that are gone. Returns their subscriptions. */
  adoptDeliveries(): Promise<number[]>
  /**
   * Gives up the deliveries and the waiting jobs of this process, so that others claim them. Running jobs go on, and it
   * keeps the deliveries that it is `attempting`.
   */
  releaseWork(attempting: readonly DeliveryKey[]): Promise<void>
  /**
   * Announces a synchronous run of a request with an idempotency key, until `endRequest`. False while another process
   * has announced one with the same key.
   */
  beginRequest(request: RequestUnderWay): Promise<boolean>
  endRequest(request: RequestUnderWay): Promise<void>
  /**
   * Lets a start join the debounced job of the same workflow and key, or makes its own job the debounced one. The
   * process of that job runs it when `endDebounce` returns 0.
   */
  joinDebounce(start: DebounceStart): Promise<Debounced>
  /** Returns the milliseconds until a job runs. 0: it runs now, and no start joins it. `isForced`: ends it early. */
  endDebounce(executionId: string, now: number, isForced?: boolean): Promise<number>
  /** Whether other processes may serve this store, so that starts of workflows with limits are counted in it. */
  readonly sharesStarts: boolean
  /** Decides about starts. The answers have the order of `asks`, each of which has another workflow or key. */
  exchangeStarts(asks: readonly SharedGroupAsk[]): Promise<SharedGroupAnswer[]>
}

/** `key`: as in `RequestClaim`. */
export type RequestUnderWay = { workflowId: string; key: string; executionId: string }

export type SequenceShare = { count: number; own(): number }

/** `remembered`: in all. `perWorkflow` and `workflows`: in one read. `interrupted`: interrupted jobs in one read. */
export type JobWindow = { remembered: number; perWorkflow: number; workflows: number; interrupted: number }

/**
 * The work of this process that the store does not know. `runs`: runs in flight. `isQuitting`: it takes no more work,
 * as if it was drained.
 */
export type OwnWork = { runs: number; isQuitting?: boolean }

export type CheckIn = {
  /** It had lost its claims, and has joined again as a new process. */
  hasJoinedAgain: boolean
  /** Whether this process does what only one may do: schedules, retention, the deletion of files. */
  isLeader: boolean
  isDraining: boolean
  /** For how long its claims count, in milliseconds from the beginning of the call. */
  leaseMs: number
  /** The other processes that can be reached now. */
  peers: Peer[]
  /** Changes that other processes made; null: some are unknown, so that nothing in memory may be trusted. */
  changes: Change[] | null
  /** Whether there is work that no process has claimed. */
  unclaimed: { queuedJobs: boolean; interruptedJobs: boolean; deliveries: boolean }
}

export type Peer = { id: string; url: string }

/**
 * `workflow`: its active version, its schedule or its webhook subscriptions have changed. `delivery`: a user changed
 * it.
 */
export type Change = { kind: 'workflow'; workflowId: string } | { kind: 'delivery'; key: DeliveryKey }

export type ProcessRow = Peer & {
  host: string
  pid: number
  version: string
  /** Epoch milliseconds. */
  startedAt: number
  heartbeatAt: number
  /** Whether its claims have ended. */
  isGone: boolean
  isLeader: boolean
  isDraining: boolean
  /** The head of the key that it encrypts with, hexadecimal; null while it has not announced one. */
  keyHead: string | null
  holds: { runs: number; jobs: number; deliveries: number; schedules: number }
}

/** For a store that only one process can serve. */
export const onlyProcess: Omit<ProcessStore, 'joinDebounce' | 'endDebounce'> = {
  sequenceShare: { count: 1, own: () => 0 },
  jobWindow: { remembered: 10_000, perWorkflow: 500, workflows: 1_000, interrupted: 1_000_000 },
  checkIn: () => Promise.resolve(null),
  announceKeys: () => Promise.resolve(),
  listProcesses: () => Promise.resolve([]),
  drainProcess: () => Promise.resolve(false),
  adoptDeliveries: () => Promise.resolve([]),
  releaseWork: () => Promise.resolve(),
  beginRequest: () => Promise.resolve(true),
  endRequest: () => Promise.resolve(),
  sharesStarts: false,
  exchangeStarts: () => Promise.resolve([]),
}
