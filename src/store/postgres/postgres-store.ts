import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { Store } from '../store.ts'
import { hostsText, type PostgresAddress, parseAddress } from './address.ts'
import { checkServer } from './check-server.ts'
import { Database } from './connection.ts'
import { unavailable } from './failures.ts'
import { continueCommitOrder } from './logs/commit-order.ts'
import { Membership } from './membership.ts'
import { migrate } from './migrations/migrations.ts'
import { type Arguments, type OperationName, type OwnCall, operations, type Result } from './operations.ts'
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
  serves?: { version: string; clock: Pick<Clock, 'now' | 'setTimer'> }
}

/**
 * Rejects with `AppError` when the database cannot be reached or used, a newer version has changed its schema, or
 * another process serves it.
 */
export async function openPostgresStore({ url, connectionsMax = 10, serves }: PostgresStoreOptions): Promise<Store> {
  const address = parseAddress(url)
  const database = new Database({ address, connectionsMax })
  try {
    await checkServer(database)
    await migrate(database)
    const membership = serves && (await Membership.join(database, serves.version, serves.clock))
    const partitions = new PartitionsAhead(database, () => serves?.clock.now() ?? Date.now())
    if (serves) await continueCommitOrder(database)
    await partitions.make()
    return storeOf(database, partitions, membership)
  } catch (error) {
    await database.close()
    throw cannotStart(error, address)
  }
}

/** Names the server, because at a start the address may be wrong. */
function cannotStart(error: unknown, address: PostgresAddress): unknown {
  if (!(error instanceof AppError) || error.code !== 'STORAGE_UNAVAILABLE') return error
  const { message = '' } = (error.cause ?? {}) as { message?: string }
  return unavailable(
    `PostgreSQL at ${hostsText(address)} cannot be used (${message}). Check MILLRACE_STORE and the server.`,
    error,
  )
}

function storeOf(database: Database, partitions: PartitionsAhead, membership: Membership | undefined): Store {
  const call = <Name extends OperationName>(name: Name, args: Arguments<Name>): Promise<Result<Name>> => {
    const { kind, run } = operations[name]
    if (kind === 'read') return run(database, ...args)
    return kind === 'change' ? database.change((sql) => run(sql, ...args)) : database.write((sql) => run(sql, ...args))
  }
  const turns = new UsageTurns()
  const names = Object.keys(operations) as OperationName[]
  const methods = names.map((name) => [name, (...args: Arguments<typeof name>) => call(name, args)] as const)
  const own: Pick<Store, OwnCall | 'append' | 'getUsage'> = {
    append: (writes) =>
      turns.append(async () => ((await appendPlain(database, writes)) ? undefined : await call('append', [writes]))),
    getUsage: (userId, periodStart) => turns.read(() => call('getUsage', [userId, periodStart])),
    retain: async (bounds) => {
      await partitions.make()
      return await retainLogs(database, bounds)
    },
    probe: async () => {
      try {
        await database.get('SELECT 1')
        return true
      } catch {
        return false
      }
    },
    close: async () => {
      await membership?.leave()
      await database.close()
    },
  }
  return { ...(Object.fromEntries(methods) as unknown as Store), ...own }
}
