import type { CheckIn, OwnWork } from '../../process-store.ts'
import type { Database } from '../connection.ts'
import { type ChangeRow, changesKeptSeconds, SeenChanges } from './changes.ts'
import { bury, leaseSeconds, type Membership, releaseGoneJobs } from './membership.ts'
import { deliveryOwners } from './orphans.ts'

/**
 * One statement a second keeps a process among the others: it renews the lease, and reads who else is there, what they
 * changed, and whether work waits that nobody has claimed. There are no notifications: they are lost when a connection
 * is, do not pass a pooler, and cost a lock at each commit.
 */
export class CheckIns {
  readonly #database: Database
  readonly #membership: Membership
  readonly #monotonic: () => number
  readonly #seen = new SeenChanges()
  #lastAt: number | undefined
  /** Since when this process has checked in without a gap. */
  #steadySince = 0
  #isLeader = false

  constructor(database: Database, membership: Membership, monotonic: () => number) {
    this.#database = database
    this.#membership = membership
    this.#monotonic = monotonic
  }

  /** As of the last check-in. */
  get isLeader(): boolean {
    return this.#isLeader
  }

  async checkIn({ runs, isQuitting = false }: OwnWork): Promise<CheckIn> {
    const startedAt = this.#monotonic()
    if (isQuitting) await this.#database.run(drainOwn, this.#database.owner)
    const found = await this.#database.get<Found>(select, this.#database.owner, runs, leaseSeconds)
    const { processes, changes, ...rest } = found!
    const own = processes.find(({ number }) => number === this.#database.owner)
    if (!own) return await this.#joinAgain()
    const gapMs = this.#lastAt === undefined ? Number.POSITIVE_INFINITY : startedAt - this.#lastAt
    if (gapMs > gapMsMax) this.#steadySince = startedAt
    this.#lastAt = startedAt
    await this.#bury(processes, startedAt)
    if (rest.hasGoneJobs) await this.#database.write(releaseGoneJobs)
    this.#isLeader = leaderOf(processes) === own.number
    return {
      hasJoinedAgain: false,
      isLeader: this.#isLeader,
      isDraining: own.isDraining,
      leaseMs: rest.isRenewed ? leaseSeconds * 1_000 : own.leaseMs,
      peers: processes.filter((each) => each !== own && each.leaseMs > 0).map(({ id, url }) => ({ id, url })),
      changes: gapMs < (changesKeptSeconds / 2) * 1_000 || this.#isFirst(gapMs) ? this.#seen.take(changes) : null,
      unclaimed: {
        queuedJobs: rest.hasQueuedJobs,
        interruptedJobs: rest.hasInterruptedJobs || rest.hasGoneJobs,
        deliveries: hasGoneOwner(rest.deliveryOwners, processes),
      },
    }
  }

  /** A process that has just started has nothing in memory that could be outdated. */
  #isFirst(gapMs: number): boolean {
    return gapMs === Number.POSITIVE_INFINITY
  }

  /**
   * Buries processes whose lease is over. When the database was away, all leases are over, and the first process that
   * is back must leave the others time to renew theirs.
   */
  async #bury(processes: readonly Living[], now: number): Promise<void> {
    if (now - this.#steadySince < steadyMsMin) return
    for (const { number, leaseMs } of processes) {
      if (leaseMs < 0 && number !== this.#database.owner) await this.#database.write((sql) => bury(sql, number))
    }
  }

  async #joinAgain(): Promise<CheckIn> {
    await this.#membership.joinAgain()
    this.#lastAt = undefined
    this.#isLeader = false
    const next = await this.checkIn({ runs: 0 })
    return { ...next, hasJoinedAgain: true, changes: null }
  }
}

type Living = { number: number; id: string; url: string; isDraining: boolean; leaseMs: number }
type Found = {
  isRenewed: boolean
  processes: Living[]
  changes: ChangeRow[]
  hasQueuedJobs: boolean
  hasInterruptedJobs: boolean
  hasGoneJobs: boolean
  deliveryOwners: number[]
}

/** The oldest process that has renewed its lease lately. A draining one only when there is no other. */
export function leaderOf(
  processes: readonly { number: number; isDraining: boolean; leaseMs: number }[],
): number | undefined {
  const able = processes.filter(({ leaseMs }) => leaseMs > leaderLeaseMsMin)
  return (able.find(({ isDraining }) => !isDraining) ?? able[0])?.number
}

function hasGoneOwner(owners: readonly number[], processes: readonly Living[]): boolean {
  const numbers = new Set(processes.map(({ number }) => number))
  return owners.some((owner) => !numbers.has(owner))
}

/** A leader that has not renewed its lease for 15 s is replaced, before its claims end. */
const leaderLeaseMsMin = 15_000
const gapMsMax = 5_000
const steadyMsMin = 15_000
/** The lease is renewed once it is this old; each time while somebody waits for the process to be drained. */
const renewSeconds = 9

const drainOwn = 'UPDATE millrace.processes SET draining = true WHERE number = $1 AND NOT draining'

// `claimed` finds the distinct owners of jobs, with one look at an index for each. ORDER BY makes PostgreSQL use the
// index even while its statistics know nothing of a million new rows.
const select = `
  WITH RECURSIVE ${deliveryOwners}, claimed (owner) AS (
    (SELECT owner FROM millrace.jobs WHERE owner > 0 ORDER BY owner LIMIT 1)
    UNION ALL
    SELECT (SELECT j.owner FROM millrace.jobs j WHERE j.owner > 0 AND j.owner > c.owner ORDER BY j.owner LIMIT 1)
    FROM claimed c WHERE c.owner IS NOT NULL
  ), renewed AS (
    UPDATE millrace.processes
    SET runs = $2::integer, heartbeat_at = now(), lease_until = now() + make_interval(secs => $3)
    WHERE number = $1 AND (draining OR lease_until < now() + make_interval(secs => $3 - ${renewSeconds}))
    RETURNING number
  )
  SELECT EXISTS (SELECT 1 FROM renewed) AS "isRenewed",
    (SELECT coalesce(json_agg(json_build_object('number', p.number, 'id', p.id, 'url', p.url, 'isDraining', p.draining,
        'leaseMs', extract(epoch FROM p.lease_until - now()) * 1000) ORDER BY p.number), '[]')
     FROM millrace.processes p) AS processes,
    (SELECT coalesce(json_agg(json_build_object('number', c.number, 'kind', c.kind, 'id', c.id) ORDER BY c.number), '[]')
     FROM millrace.changes c
     WHERE c.at > now() - make_interval(secs => ${changesKeptSeconds}) AND c.process <> $1) AS changes,
    EXISTS (SELECT 1 FROM (SELECT owner FROM millrace.jobs WHERE state = 0 AND owner = 0
                           ORDER BY workflow, number LIMIT 1) q) AS "hasQueuedJobs",
    EXISTS (SELECT 1 FROM millrace.jobs WHERE state = 2 AND owner = 0) AS "hasInterruptedJobs",
    EXISTS (SELECT 1 FROM claimed WHERE owner NOT IN (SELECT number FROM millrace.processes)) AS "hasGoneJobs",
    (SELECT coalesce(json_agg(owner), '[]') FROM owners WHERE owner IS NOT NULL) AS "deliveryOwners"`
