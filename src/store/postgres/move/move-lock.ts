import { AppError } from '../../../domain/errors.ts'
import { moveLock } from '../check-server.ts'
import { livingProcess } from '../cluster/living-process.ts'
import type { Database, Sql } from '../connection.ts'
import { schemaVersionOf } from '../migrations/migrations.ts'

/**
 * Keeps services, commands and other moves from the installation while `work` runs. Rejects with `CONFLICT` when one of
 * them is there already. The lock belongs to a transaction, so that it also works through a pooler.
 */
export async function withMoveLock<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  return await database.bulk('BEGIN', async (sql) => {
    await sql.run('SET LOCAL idle_in_transaction_session_timeout = 0')
    await take(sql)
    // After the lock: a service that registers itself later sees the lock.
    const server = (await schemaVersionOf(database)) > 0 ? await livingProcess(database) : undefined
    if (server) {
      throw new AppError(
        'CONFLICT',
        `A service runs on the PostgreSQL database: process ${server.pid} on ${server.host}. Stop it first. If it was ` +
          'killed, its registration ends within 30 seconds.',
      )
    }
    const hold = new Hold(sql)
    try {
      return await Promise.race([work(), hold.lost])
    } finally {
      await hold.end()
    }
  })
}

/** A process that starts holds the lock for a moment. */
async function take(sql: Sql): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const row = await sql.get<{ isTaken: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isTaken"', moveLock)
    if (row?.isTaken) return
    await Bun.sleep(pauseMs)
  }
  throw new AppError('CONFLICT', 'Another millrace move works on the PostgreSQL database. Wait until it has ended.')
}

/**
 * Uses the connection of the lock now and then: networks drop connections that are silent for minutes, and with the
 * connection, the lock would be gone.
 */
class Hold {
  readonly #sql: Sql
  readonly #lost = Promise.withResolvers<never>()
  #timer: Timer
  #asking: Promise<unknown> = Promise.resolve()

  constructor(sql: Sql) {
    this.#sql = sql
    this.#lost.promise.catch(() => undefined)
    this.#timer = setInterval(() => {
      this.#asking = this.#sql.get('SELECT 1').catch(this.#lost.reject)
    }, everyMs)
  }

  /** Rejects when the lock is gone. */
  get lost(): Promise<never> {
    return this.#lost.promise
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#asking
  }
}

const everyMs = 30_000
const attemptsMax = 10
const pauseMs = 100
