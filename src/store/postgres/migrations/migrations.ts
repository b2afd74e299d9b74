import { AppError } from '../../../domain/errors.ts'
import type { Database, Sql } from '../connection.ts'
import foundation from './001-foundation.sql' with { type: 'text' }
import credentials from './002-credentials.sql' with { type: 'text' }
import connectors from './003-connectors.sql' with { type: 'text' }
import pauses from './004-pauses.sql' with { type: 'text' }
import idempotentResponses from './005-idempotent-responses.sql' with { type: 'text' }
import pauseIndexes from './006-pause-indexes.sql' with { type: 'text' }
import startLimits from './007-start-limits.sql' with { type: 'text' }
import pauseEvents from './008-pause-events.sql' with { type: 'text' }
import reminders from './009-reminders.sql' with { type: 'text' }
import workflowLists from './010-workflow-lists.sql' with { type: 'text' }
import oauth from './011-oauth.sql' with { type: 'text' }
import workflowTests from './012-workflow-tests.sql' with { type: 'text' }
import storeEntries from './013-store-entries.sql' with { type: 'text' }
import polls from './014-polls.sql' with { type: 'text' }
import alerts from './015-alerts.sql' with { type: 'text' }

/**
 * In order; the position, from 1, is a migration's number. The statements of a released migration never change. While
 * processes of two versions run, both use the schema of the newer one: a migration only adds, and a later version
 * removes what no process reads.
 */
export const migrations: readonly string[] = [
  foundation,
  credentials,
  connectors,
  pauses,
  idempotentResponses,
  pauseIndexes,
  startLimits,
  pauseEvents,
  reminders,
  workflowLists,
  oauth,
  workflowTests,
  storeEntries,
  polls,
  alerts,
]

/**
 * Applies the missing migrations, all or none. Processes that start together wait for each other. Throws `CONFLICT`
 * when a newer version has changed the schema.
 */
export async function migrate(database: Database, list: readonly string[] = migrations): Promise<void> {
  if ((await schemaVersionOf(database)) === list.length) return
  await database.maintain(async (sql, run) => {
    await sql.get('SELECT pg_advisory_xact_lock($1)', migrationLock)
    const version = await schemaVersionOf(sql)
    if (version > list.length) throw newerSchema(version, list.length)
    if (version === 0) await run(createMigrations)
    for (const [index, text] of list.entries()) {
      if (index < version) continue
      await run(text)
      await sql.run('INSERT INTO millrace.migrations (number, applied_at) VALUES ($1, now())', index + 1)
    }
  })
}

/** 0 when the database has no installation. */
export async function schemaVersionOf(sql: Pick<Sql, 'get'>): Promise<number> {
  if (!(await sql.get(findMigrations))) return 0
  const row = await sql.get<{ version: number | null }>('SELECT max(number) AS version FROM millrace.migrations')
  return row?.version ?? 0
}

// Reads the catalog itself: `to_regclass` may remember in a transaction that the table did not exist.
const findMigrations = `
  SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'millrace' AND c.relname = 'migrations'`

const createMigrations = `
  CREATE SCHEMA IF NOT EXISTS millrace;
  CREATE TABLE millrace.migrations (number integer PRIMARY KEY, applied_at timestamptz NOT NULL);`

/** "MilR": any number that no other program is likely to lock. */
const migrationLock = 0x4d696c52

function newerSchema(version: number, known: number): AppError {
  return new AppError(
    'CONFLICT',
    `The PostgreSQL database has schema ${version}, but this version of Millrace knows only ${known}. ` +
      'Use the newer version of Millrace that changed it.',
  )
}
