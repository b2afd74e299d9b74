import { SQL } from 'bun'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../../src/store/store.ts'
import type { PostgresServer } from './postgres.ts'

/**
 * Opens stores in databases of a server, one database per folder, like the stores of the contract.
 */
export function postgresStores(server: () => PostgresServer): (directory: string) => Promise<Store> {
  const urls = new Map<string, string>()
  return async (directory) => {
    const url = urls.get(directory) ?? (await server().createDatabase())
    urls.set(directory, url)
    return await openPostgresStore({ url })
  }
}

/** Runs one statement on a database, past the store. */
export async function queryPostgres<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const sql = new SQL(url, { max: 1 })
  try {
    return [...((await sql.unsafe(text, values)) as Row[])]
  } finally {
    await sql.close()
  }
}
