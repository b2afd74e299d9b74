import type { Clock, Timer } from '../domain/clock.ts'
import type { Change, CheckIn, OwnWork, Peer } from '../store/process-store.ts'
import type { Store } from '../store/store.ts'

export type ClusterOptions = {
  store: Pick<Store, 'checkIn' | 'adoptDeliveries'>
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  own(): Omit<OwnWork, 'isQuitting'>
  onChange(change: Change): void
  /** Changes of other processes are unknown: nothing in memory may be trusted. */
  onUnknownChanges(): void
  /** Also called when this process leads again after it could not check in for most of its lease. */
  onLeader(isLeader: boolean): void
  /** This process had lost its claims, and belongs to the others again. */
  onClaimsLost(): void
  /** Called again at the next check-in when it rejects. */
  /** Called after each check-in while the process is drained. */
  onDrain(isFirst: boolean): Promise<void>
  /** Takes jobs that nobody has claimed. */
  takeJobs(unclaimed: CheckIn['unclaimed']): Promise<void>
  adopted(subscriptions: readonly number[]): void
  /** Called after each check-in that found other processes. */
  withOthers(): Promise<void>
  /** Called after each check-in: work that waited for it may go on. */
  resume(): void
  /** Called when check-ins begin to fail, and when they work again (undefined). */
  onTrouble(cause: unknown): void
}

/**
 * Keeps this process among those that serve the installation. Every second it checks in with the store: that keeps its
 * claims, and tells what others changed or left behind. If no other process can serve the store, the first check-in is
 * the only one: this process is the leader for ever, and its claims always count.
 *
 * joining → member: the first check-in.
 * member → suspended: no check-in for most of the lease. The process starts nothing, because others may soon take over
 * what it has claimed.
 * suspended → member: a check-in in time.
 * suspended → member without claims: others had taken over; it has joined as a new process.
 */
export class Cluster {
  readonly #options: ClusterOptions
  /** Whether other processes may exist. */
  #isShared = true
  #leaseEndsAt = Number.POSITIVE_INFINITY
  #isLeader = false
  #isDraining = false
  #peers: readonly Peer[] = []
  #timer: Timer | undefined
  #work: Promise<void> = Promise.resolve()
  #isQuitting = false
  #isStopped = false
  #isTroubled = false
  readonly #counters = { checkIns: 0, failures: 0, claimsLost: 0, adoptions: 0 }

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** The other processes, as of the last check-in. */
  get peers(): readonly Peer[] {
    return this.#peers
  }

  get isLeader(): boolean {
    return this.#isLeader && this.holdsClaims && !this.#isQuitting
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Whether this process may act on what it has claimed. */
  get holdsClaims(): boolean {
    return this.#options.clock.monotonic() < this.#leaseEndsAt
  }

  /** Whether this process may start work that another one could do. */
  get takesWork(): boolean {
    return this.holdsClaims && !this.#isDraining && !this.#isQuitting
  }

  get counters(): Readonly<{ checkIns: number; failures: number; claimsLost: number; adoptions: number }> {
    return this.#counters
  }

  /** Checks in now, and then every second. Never rejects. */
  open(): void {
    this.#work = this.#take().finally(() => this.#checkInLater())
  }

  /**
   * Takes no more work, and lets another process lead. Check-ins go on: without them, others would take over the work
   * that is still being finished.
   */
  async quit(): Promise<void> {
    this.#isQuitting = true
    this.#timer?.cancel()
    await this.#work
    this.#timer?.cancel()
    this.open()
    await this.#work
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#work
  }

  #checkInLater(): void {
    if (this.#isStopped || !this.#isShared) return
    // At random, so that the processes do not all come at the same moment.
    const delayMs = everyMs * (0.9 + 0.2 * this.#options.random())
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#work = this.#take().finally(() => this.#checkInLater())
    })
  }

  async #take(): Promise<void> {
    try {
      await this.#checkIn()
      if (this.#isTroubled) this.#options.onTrouble(undefined)
      this.#isTroubled = false
    } catch (cause) {
      this.#counters.failures += 1
      if (!this.#isTroubled && !this.#isStopped) this.#options.onTrouble(cause)
      this.#isTroubled = true
    }
  }

  async #checkIn(): Promise<void> {
    const { store, clock, own } = this.#options
    const startedAt = clock.monotonic()
    const found = await store.checkIn({ ...own(), isQuitting: this.#isQuitting })
    this.#counters.checkIns += 1
    if (!found) {
      this.#isShared = false
      return this.#lead(true)
    }
    // Without a lease, the leader's timers stopped. They begin again.
    if (!this.holdsClaims) this.#isLeader = false
    this.#leaseEndsAt = startedAt + found.leaseMs - leaseMarginMs
    this.#peers = found.peers
    if (found.hasJoinedAgain) this.#loseClaims()
    this.#applyChanges(found.changes)
    this.#lead(found.isLeader)
    this.#options.resume()
    await this.#drain(found.isDraining)
    if (this.takesWork) await this.#takeWork(found.unclaimed)
    if (found.peers.length > 0) await this.#options.withOthers()
  }

  #loseClaims(): void {
    this.#counters.claimsLost += 1
    this.#isDraining = false
    this.#lead(false)
    this.#options.onClaimsLost()
  }

  #applyChanges(changes: readonly Change[] | null): void {
    if (changes === null) this.#options.onUnknownChanges()
    else for (const change of changes) this.#options.onChange(change)
  }

  #lead(isLeader: boolean): void {
    if (this.#isLeader === isLeader) return
    this.#isLeader = isLeader
    this.#options.onLeader(isLeader)
  }

  async #drain(isDraining: boolean): Promise<void> {
    // A process that quits gives its work up when it has finished what is in progress.
    if (!isDraining || this.#isQuitting) return
    const isFirst = !this.#isDraining
    this.#isDraining = true
    // Again and again: runs that it still records may have deliveries, and jobs may begin to wait.
    await this.#options.onDrain(isFirst)
  }

  async #takeWork(unclaimed: CheckIn['unclaimed']): Promise<void> {
    const { store, takeJobs, adopted } = this.#options
    await takeJobs(unclaimed)
    if (!unclaimed.deliveries) return
    for (let round = 0; round < adoptionsMax; round += 1) {
      const subscriptions = await store.adoptDeliveries()
      if (subscriptions.length === 0) return
      this.#counters.adoptions += 1
      adopted(subscriptions)
    }
  }
}

const everyMs = 1_000
/** The process stops acting on its claims this long before its lease ends, because a step takes a moment. */
const leaseMarginMs = 3_000
/** Rounds of adoptions in one check-in. */
const adoptionsMax = 20
