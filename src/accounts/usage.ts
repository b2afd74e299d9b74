import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { billingPeriodOf, type Cost } from '../domain/run/cost.ts'
import { countsAsUsage } from '../domain/run/log.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'

export type UsageOptions = {
  /** The cost of an account since the start of a period, in USD, including every run recorded so far. */
  getUsage(userId: string, periodStart: number): Promise<number>
  clock: Clock
  accountsMax?: number
}

/**
 * The cost of accounts in this calendar month (UTC). The store updates the sums in the transaction that records a run.
 * This is a copy in memory, read once a month and updated with each run, so that a run needs no query. While other
 * processes add to the sums too, it is read again after each `refresh`, without delaying the run that needs it.
 */
export class Usage {
  readonly #getUsage: UsageOptions['getUsage']
  readonly #clock: Clock
  readonly #accountsMax: number
  /** In the order in which they were read. */
  readonly #spent = new Map<string, Spent>()
  readonly #loading = new Map<string, Loading>()
  readonly #ownerOf = new Map<string, string>()
  /** Incremented when sums in memory may lack costs that other processes have added. */
  #generation = 0

  constructor({ getUsage, clock, accountsMax = 100_000 }: UsageOptions) {
    this.#getUsage = getUsage
    this.#clock = clock
    this.#accountsMax = accountsMax
  }

  /** USD in this month. */
  async of(userId: string): Promise<number> {
    return this.known(userId) ?? (await this.#load(userId))
  }

  /** The same if it is in memory; otherwise undefined. */
  known(userId: string): number | undefined {
    const spent = this.#spent.get(userId)
    if (spent === undefined || !isIn(spent, this.#clock.now())) return undefined
    // The next caller that has to wait receives the error.
    if (spent.generation !== this.#generation) this.#load(userId).catch(() => {})
    return spent.usd
  }

  /** Other processes may have added costs: sums are read again when they are next used. */
  refresh(): void {
    this.#generation += 1
  }

  /**
   * Remembers the owner of a workspace, to whom its runs are charged. Called when one of its workflows is loaded. The
   * owner never changes.
   */
  learnOwner(workspaceId: string, ownerId: string): void {
    if (this.#ownerOf.size >= this.#accountsMax) this.#ownerOf.clear()
    this.#ownerOf.set(workspaceId, ownerId)
  }

  /** Returns undefined when the owner is not known yet. */
  ownerOf(workspaceId: string): string | undefined {
    return this.#ownerOf.get(workspaceId)
  }

  /** Counts a run that was just recorded, unless it is one that does not count as usage. */
  add({ workspaceId, endedAt, cost, trigger }: RecordedRun): void {
    if (!countsAsUsage({ costTotal: cost.total, trigger })) return
    const owner = this.#ownerOf.get(workspaceId)
    if (owner === undefined) {
      this.#forget()
      return
    }
    // A sum being read may or may not include this cost, so it is read again.
    const loading = this.#loading.get(owner)
    if (loading) loading.isStale = true
    const spent = this.#spent.get(owner)
    if (spent && isIn(spent, endedAt)) spent.usd += cost.total
  }

  /** The owner of a run is unknown: all sums are read again. */
  #forget(): void {
    this.#spent.clear()
    for (const loading of this.#loading.values()) loading.isStale = true
  }

  #load(userId: string): Promise<number> {
    const known = this.#loading.get(userId)
    if (known) return known.usd
    const loading: Loading = { isStale: false, usd: Promise.resolve(0) }
    this.#loading.set(userId, loading)
    loading.usd = this.#read(userId, loading).finally(() => this.#loading.delete(userId))
    return loading.usd
  }

  async #read(userId: string, loading: Loading): Promise<number> {
    const [periodStart, periodEnd] = periodAt(this.#clock.now())
    const generation = this.#generation
    let usd: number
    do {
      loading.isStale = false
      usd = await this.#getUsage(userId, periodStart)
    } while (loading.isStale)
    this.#spent.delete(userId)
    this.#spent.set(userId, { periodStart, periodEnd, usd, generation })
    forgetOldest(this.#spent, this.#accountsMax)
    return usd
  }
}

/** The part of a run's record that is used. */
type RecordedRun = { workspaceId: string; endedAt: number; cost: Cost; trigger: TriggerKind }
type Spent = { periodStart: number; periodEnd: number; usd: number; generation: number }
type Loading = { isStale: boolean; usd: Promise<number> }

function isIn({ periodStart, periodEnd }: Spent, at: number): boolean {
  return at >= periodStart && at < periodEnd
}

function periodAt(now: number): [start: number, end: number] {
  const start = billingPeriodOf(now)
  // A month has 28 to 31 days.
  return [start, billingPeriodOf(start + 31.5 * 86_400_000)]
}
