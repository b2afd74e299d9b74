import type { Store } from '../store.ts'
import { Database } from './connection.ts'
import { migrate } from './migrations/migrations.ts'
import { type Arguments, type OperationName, type OwnCall, operations, type Result } from './operations.ts'
import { retainLogs } from './upkeep/retention.ts'

export type PostgresStoreOptions = {
  /** `postgres://user:password@host:port/database`. */
  url: string
  /** The most connections; 10 when absent. */
  connectionsMax?: number
}

/** Rejects with `AppError` when the database cannot be reached or used, or a newer version has changed its schema. */
export async function openPostgresStore({ url, connectionsMax = 10 }: PostgresStoreOptions): Promise<Store> {
  const database = new Database({ url, connectionsMax })
  try {
    await migrate(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return storeOf(database)
}

function storeOf(database: Database): Store {
  const call = <Name extends OperationName>(name: Name, args: Arguments<Name>): Promise<Result<Name>> => {
    const { kind, run } = operations[name]
    if (kind === 'read') return run(database, ...args)
    return kind === 'change' ? database.change((sql) => run(sql, ...args)) : database.write((sql) => run(sql, ...args))
  }
  const names = Object.keys(operations) as OperationName[]
  const methods = names.map((name) => [name, (...args: Arguments<typeof name>) => call(name, args)] as const)
  const own: Pick<Store, OwnCall> = {
    retain: (bounds) => retainLogs(database, bounds),
    probe: async () => {
      try {
        await database.get('SELECT 1')
        return true
      } catch {
        return false
      }
    },
    close: () => database.close(),
  }
  return { ...(Object.fromEntries(methods) as unknown as Omit<Store, OwnCall>), ...own }
}
