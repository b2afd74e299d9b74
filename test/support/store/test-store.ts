import { resolve } from 'node:path'
import { SQL } from 'bun'
import type { Config } from '../../../src/config.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'

/**
 * The address of a PostgreSQL server, when the tests of the service run on PostgreSQL instead of SQLite
 * (`bun run test --tier postgres`). Each data folder then stands for a database of its own.
 */
export const postgresAddress = Bun.env['TEST_POSTGRES']

/** The key of stored secrets, where a setting has it; by default the data folder does. */
export const secretKey = postgresAddress === undefined ? undefined : 'the-secret-key-of-all-tests-on-postgres'

/** The settings that select the store of a data folder; none for SQLite. */
export async function storeSettings(data: string): Promise<Record<string, string>> {
  return secretKey === undefined ? {} : { MILLRACE_STORE: await databaseOf(data), MILLRACE_SECRET_KEY: secretKey }
}

/** Opens the store of a data folder, as a command does. */
export async function openStoreOf(data: string): Promise<Store> {
  if (postgresAddress === undefined) return await openSqliteStore({ directory: data, sync: 'normal', mode: 'direct' })
  return await openPostgresStore({ url: await databaseOf(data), connectionsMax: 2 })
}

/** Opens the store that the settings name. */
export async function openTestStore(
  { store, data, sync }: Pick<Config, 'store' | 'data' | 'sync'>,
  mode: SqliteStoreOptions['mode'],
): Promise<Store> {
  return store === 'sqlite'
    ? await openSqliteStore({ directory: data, sync, mode })
    : await openPostgresStore({ url: store })
}

/**
 * The address of the folder's database, which is made by the first call. The service has exactly the rights that
 * docs/postgresql.md asks for.
 */
export async function databaseOf(data: string): Promise<string> {
  const name = `test_${new Bun.CryptoHasher('sha256').update(resolve(data)).digest('hex').slice(0, 24)}`
  const address = new URL(postgresAddress!)
  const sql = new SQL(address.href, { max: 1 })
  try {
    const [found] = (await sql.unsafe('SELECT 1 FROM pg_database WHERE datname = $1', [name])) as unknown[]
    if (!found) {
      await createRole(sql)
      await sql.unsafe(`CREATE DATABASE ${name}`)
      await sql.unsafe(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`)
      await sql.unsafe(`GRANT CREATE, CONNECT ON DATABASE ${name} TO ${role}`)
    }
  } finally {
    await sql.close()
  }
  address.pathname = `/${name}`
  address.username = role
  return address.href
}

const role = 'least_privileged'

/** Several test processes may do this at once. */
async function createRole(sql: SQL): Promise<void> {
  await sql.unsafe(`CREATE ROLE ${role} LOGIN`).catch((error: { errno?: string }) => {
    const isThere = error.errno === '42710' || error.errno === '23505'
    if (!isThere) throw error
  })
}
