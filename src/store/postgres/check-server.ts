import { AppError } from '../../domain/errors.ts'
import type { Database, Sql } from './connection.ts'
import { startError } from './start-errors.ts'

/** The oldest version with everything that the schema uses. */
const oldestVersion = 15

/**
 * Throws one sentence when the service cannot reach or use this server, database or user, or while `millrace move`
 * works on the installation.
 */
export async function checkServer(database: Database): Promise<void> {
  await checkServerForMove(database)
  await assertNotMoving(database)
}

/**
 * Rejects while `millrace move` reads or writes the installation, or has not completed it. The service asks again after
 * it has registered itself, because the move first locks the installation and then looks for registrations.
 */
export async function assertNotMoving(sql: Pick<Sql, 'get'>): Promise<void> {
  const { isLocked, isUnfinished } = (await sql.get<{ isLocked: boolean; isUnfinished: boolean }>(
    selectMove,
    moveLock,
  ))!
  if (isLocked) throw refusal('millrace move works on this PostgreSQL database. Wait until it has ended.')
  if (isUnfinished) {
    throw refusal(
      'This PostgreSQL database is from an unfinished move. Run the same millrace move again: it continues. ' +
        'To give it up, run: DROP SCHEMA millrace CASCADE.',
    )
  }
}

/** "MilM": held by `millrace move` as long as it works on an installation. */
export const moveLock = 0x4d696c4d

/** The table of a move's notes exists until it is complete. */
export const isUnfinished = `
  EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'millrace' AND c.relname = 'unfinished_move')`
// The lock is released immediately, at the end of the statement.
const selectMove = `
  SELECT NOT pg_try_advisory_xact_lock_shared($1) AS "isLocked", ${isUnfinished} AS "isUnfinished"`

/** The same checks without the last one, for the move itself. */
export async function checkServerForMove(database: Database): Promise<void> {
  try {
    assertUsable((await database.get<Found>(selectFacts))!)
    await database.assertPrepares()
  } catch (error) {
    throw await startError(error, database.address)
  }
}

function assertUsable(found: Found): void {
  const { database, user } = found
  if (found.version < oldestVersion * 10_000) {
    throw refusal(
      `The server has PostgreSQL ${Math.floor(found.version / 10_000)}. Millrace needs version ${oldestVersion} or later.`,
    )
  }
  if (found.encoding !== 'UTF8') {
    throw refusal(
      `The database ${database} stores texts as ${found.encoding}. Create one with the encoding UTF8, such as: ` +
        `CREATE DATABASE millrace ENCODING 'UTF8' TEMPLATE template0.`,
    )
  }
  if (found.hasSchema === null && !found.mayCreate) {
    throw refusal(
      `The user ${user} may not create the schema "millrace" in the database ${database}. As its owner, run: ` +
        `GRANT CREATE ON DATABASE ${database} TO ${user}.`,
    )
  }
  if (found.hasSchema !== null && !found.mayUse) {
    throw refusal(
      `The user ${user} may not use the schema "millrace" in the database ${database}. Use the user that created it, ` +
        `or make this user its owner.`,
    )
  }
}

type Found = {
  version: number
  encoding: string
  database: string
  user: string
  /** The schema's name; null when it does not exist. */
  hasSchema: string | null
  mayCreate: boolean
  mayUse: boolean | null
}

const selectFacts = `
  SELECT current_setting('server_version_num')::int AS version,
    (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()) AS encoding,
    current_database()::text AS database, current_user::text AS "user", to_regnamespace('millrace')::text AS "hasSchema",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
    (SELECT has_schema_privilege(oid, 'USAGE, CREATE') FROM pg_namespace WHERE nspname = 'millrace') AS "mayUse"`

function refusal(message: string): AppError {
  return new AppError('CONFLICT', message)
}
