import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { queryPostgres } from './postgres-store.ts'
import { databaseOf, postgresAddress } from './test-store.ts'

/** Everything that is stored of an installation: every file of its data folder, and on PostgreSQL every value. */
export async function storedBytes(data: string): Promise<{ name: string; bytes: Uint8Array }[]> {
  const entries = existsSync(data) ? readdirSync(data, { recursive: true, withFileTypes: true }) : []
  // The disk reserve may vanish while it is being created. It contains no data.
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.reserve.draft'))
  const found = files.map(({ name, parentPath }) => ({ name, bytes: readFileSync(join(parentPath, name)) }))
  return postgresAddress === undefined ? found : [...found, ...(await storedValues(await databaseOf(data)))]
}

async function storedValues(url: string): Promise<{ name: string; bytes: Uint8Array }[]> {
  const tables = await queryPostgres<{ name: string }>(
    url,
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'millrace'::regnamespace AND relkind = 'r'",
  )
  const values: { name: string; bytes: Uint8Array }[] = []
  for (const { name } of tables) {
    for (const row of await queryPostgres<Record<string, unknown>>(url, `SELECT * FROM millrace.${name}`)) {
      for (const value of Object.values(row)) {
        values.push({ name, bytes: value instanceof Uint8Array ? value : Buffer.from(String(value)) })
      }
    }
  }
  return values
}
