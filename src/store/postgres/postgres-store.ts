import type { Clock } from '../../domain/clock.ts'
import { type OwnWork, onlyProcess } from '../process-store.ts'
import type { RetentionStep, Store } from '../store.ts'
import { parseAddress } from './address.ts'
import { assertNotMoving, checkServer } from './check-server.ts'
import { deleteOldChanges } from './cluster/changes.ts'
import { CheckIns } from './cluster/check-in.ts'
import { type Introduction, Membership } from './cluster/membership.ts'
import { deleteOldStarts } from './cluster/starts.ts'
import { Database } from './connection.ts'
import { continueCommitOrder } from './logs/commit-order.ts'
import { migrate } from './migrations/migrations.ts'
import { type Arguments, type OperationName, type OwnMember, operations, type Result } from './operations.ts'
import { startError } from './start-errors.ts'
import { PartitionPlans } from './upkeep/partition-plans.ts'
import { PartitionsAhead } from './upkeep/partitions.ts'
import { retainLogs } from './upkeep/retention.ts'
import { appendPlain } from './writes/append.ts'
import { UsageTurns } from './writes/usage-turns.ts'

export type PostgresStoreOptions = {
  /** `postgres://user:password@host:port/database`. */
  url: string
  /** The most connections; 10 when absent. */
  connectionsMax?: number
  /** For the service, which registers itself; absent for commands. */
  serves?: Introduction & { clock: Pick<Clock, 'now' | 'monotonic'> }
}

/**
 * Rejects with `AppError` when the database cannot be reached or used, a newer version has changed its schema, or
 * another process serves it.
 */
export async function openPostgresStore({ url, connectionsMax = 10, serves }: PostgresStoreOptions): Promise<Store> {
  const address = parseAddress(url)
  const database = new Database({ address, connectionsMax })
  let membership: Membership | undefined
  try {
    await checkServer(database)
    await migrate(database)
    membership = serves && (await Membership.join(database, serves))
    if (membership) await assertNotMoving(database)
    const partitions = new PartitionsAhead(database, () => serves?.clock.now() ?? Date.now())
    if (serves) await continueCommitOrder(database)
    await partitions.make()
    const checkIns = serves && membership && new CheckIns(database, membership, () => serves.clock.monotonic())
    return storeOf({ database, partitions, membership, checkIns })
  } catch (error) {
    await membership?.leave()
    await database.close()
    throw await startError(error, address)
  }
}

type Parts = {
  database: Database
  partitions: PartitionsAhead
  membership: Membership | undefined
  checkIns: CheckIns | undefined
}

function storeOf({ database, partitions, membership, checkIns }: Parts): Store {
  const call = <Name extends OperationName>(name: Name, args: Arguments<Name>): Promise<Result<Name>> => {
    const { kind, run } = operations[name]
    if (kind === 'read') return run(database, ...args)
    return kind === 'change' ? database.change((sql) => run(sql, ...args)) : database.write((sql) => run(sql, ...args))
  }
  const turns = new UsageTurns()
  const plans = new PartitionPlans(database)
  const names = Object.keys(operations) as OperationName[]
  const methods = names.map((name) => [name, (...args: Arguments<typeof name>) => call(name, args)] as const)
  const own: Pick<Store, OwnMember | 'append' | 'getUsage' | 'measure'> = {
    append: (writes) =>
      turns.append(async () => {
        const refusals = (await appendPlain(database, writes)) ? undefined : await call('append', [writes])
        plans.recorded(writes)
        return refusals
      }),
    getUsage: (userId, periodStart) => turns.read(() => call('getUsage', [userId, periodStart])),
    ...processCalls(membership, checkIns),
    retain: async (bounds) => {
      // A command is not one of several processes: it does what it was asked to do.
      if (checkIns && !checkIns.isLeader) return nothingRetained
      await partitions.make()
      await deleteOldChanges(database)
      await deleteOldStarts(database)
      return await retainLogs(database, bounds)
    },
    measure: async () => ({ ...(await call('measure', [])), connections: (await database.poolUse()) ?? null }),
    probe: () => database.commits(),
    close: async () => {
      await membership?.leave()
      await database.close()
    },
  }
  return { ...(Object.fromEntries(methods) as unknown as Store), ...own }
}

/** The calls of `ProcessStore` that belong to this process. */
function processCalls(membership: Membership | undefined, checkIns: CheckIns | undefined) {
  const { sequenceShare, announceKeys, checkIn } = onlyProcess
  return {
    sequenceShare: membership?.sequenceShare ?? sequenceShare,
    jobWindow: { remembered: 400, perWorkflow: 100, workflows: 100, interrupted: 100 },
    sharesStarts: membership !== undefined,
    announceKeys: membership ? (heads: readonly Uint8Array[]) => membership.announceKeys(heads) : announceKeys,
    checkIn: checkIns ? (own: OwnWork) => checkIns.checkIn(own) : checkIn,
  }
}

const nothingRetained: RetentionStep = {
  ...{ entries: 0, bytesFreed: 0, usedBytes: 0, heldMs: 0, heldTo: 0, leftBytes: 0 },
  done: true,
}
