import type { Connection } from '../connection.ts'
import foundation from './001-foundation.sql' with { type: 'text' }
import owingRuns from './002-owing-runs.sql' with { type: 'text' }

/** In order; a released one is never changed. The number of a migration is its place here, from 1. */
export const migrations: readonly string[] = [foundation, owingRuns]

/** Brings the schema up to date: each migration is one transaction, and two processes at once do it once. */
export function migrate(connection: Connection, list: readonly string[] = migrations): void {
  while (schemaVersionOf(connection) < list.length) {
    connection.write(() => {
      const version = schemaVersionOf(connection)
      const sql = list[version]
      if (sql === undefined) return
      connection.script(sql)
      connection.script(`PRAGMA user_version = ${version + 1}`)
    })
  }
}

export function schemaVersionOf(connection: Connection): number {
  return connection.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
}
