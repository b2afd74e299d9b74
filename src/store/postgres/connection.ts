import { type ReservedSQL, SQL } from 'bun'
import type { PostgresAddress } from './address.ts'
import { isConflict, isLost, storageError, unavailable } from './failures.ts'

export type Value = string | number | boolean | null | Uint8Array

/**
 * The part of a connection that queries use. Texts are constants, because the server keeps a prepared statement for
 * each; values are `$1`, `$2`, …. Lists are passed as texts: see `listOf` and `rowsOf`. Integers come back as numbers,
 * binary values as `Uint8Array`.
 */
export interface Sql {
  get<Row>(text: string, ...values: Value[]): Promise<Row | undefined>
  all<Row>(text: string, ...values: Value[]): Promise<Row[]>
  /** The number of rows changed. */
  run(text: string, ...values: Value[]): Promise<number>
  /** The number of this process among those that serve the installation; 0 for commands. */
  readonly owner: number
}

export type DatabaseOptions = {
  address: PostgresAddress
  /** The most connections. */
  connectionsMax: number
}

/**
 * A pool of connections to one database. Every method rejects with `AppError` `STORAGE_UNAVAILABLE` when it is down.
 * With several servers, the pool belongs to the one that accepts changes; when it fails, the next call looks for it.
 */
export class Database implements Sql {
  /** See `Sql`. A process gets its number when it joins the others (cluster/membership.ts). */
  owner = 0
  readonly #options: DatabaseOptions
  #pool: Promise<SQL> | undefined

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  // A single statement is a transaction of its own, on any connection.
  get<Row>(text: string, ...values: Value[]): Promise<Row | undefined> {
    return this.#with((pool) => queriesOn(pool, this.owner).get<Row>(text, ...values))
  }

  all<Row>(text: string, ...values: Value[]): Promise<Row[]> {
    return this.#with((pool) => queriesOn(pool, this.owner).all<Row>(text, ...values))
  }

  run(text: string, ...values: Value[]): Promise<number> {
    return this.#with((pool) => queriesOn(pool, this.owner).run(text, ...values))
  }

  /**
   * One transaction: commits, or rolls back when `work` rejects. Concurrent transactions see each other's commits
   * between two statements, so `work` locks the rows that it reads and then changes. Of two transactions that wait for
   * each other, one is repeated, so `work` may run several times.
   */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#with((pool) => transaction(pool, 'BEGIN', work, this.owner))
  }

  /**
   * One transaction that behaves as if no other ran at the same time. PostgreSQL refuses the later one of two that
   * contradict each other, and it is repeated, so `work` may run several times.
   */
  change<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#with((pool) => transaction(pool, 'BEGIN ISOLATION LEVEL SERIALIZABLE', work, this.owner))
  }

  /** One transaction that may also run scripts of several statements. */
  script<Result>(work: (sql: Sql, run: (text: string) => Promise<void>) => Promise<Result>): Promise<Result> {
    return this.#with((pool) =>
      transaction(
        pool,
        'BEGIN',
        (sql, connection) =>
          work(sql, async (text) => {
            await connection.unsafe(text).simple()
          }),
        this.owner,
      ),
    )
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined)
    await pool?.close({ timeout: closeSecondsMax })
  }

  async #with<Result>(work: (pool: SQL) => Promise<Result>): Promise<Result> {
    this.#pool ??= findPrimary(this.#options)
    const used = this.#pool
    try {
      const pool = await used
      return await repeated(() => work(pool))
    } catch (error) {
      if (this.#pool === used && this.#options.address.hosts.length > 1 && isLost(error)) this.#abandon(used)
      throw storageError(error) ?? error
    }
  }

  /** The next call looks for another server. Calls that still use this one end by themselves. */
  #abandon(pool: Promise<SQL>): void {
    this.#pool = undefined
    void pool.then((lost) => lost.close({ timeout: closeSecondsMax })).catch(() => undefined)
  }
}

/** Opens a pool. Of several servers, that of the first one that accepts changes. */
async function findPrimary({ address, connectionsMax }: DatabaseOptions): Promise<SQL> {
  const [only, ...others] = address.hosts.map((host) => openPool(address, host, connectionsMax))
  if (only && others.length === 0) return only
  let problem: unknown
  for (const pool of [only!, ...others]) {
    try {
      const [row] = (await pool.unsafe('SELECT pg_is_in_recovery() AS "isStandby"')) as { isStandby: boolean }[]
      if (row && !row.isStandby) return pool
      problem ??= unavailable('All PostgreSQL servers that answer are standby servers, which accept no changes.')
    } catch (error) {
      problem ??= error
    }
    await pool.close().catch(() => undefined)
  }
  throw problem
}

function openPool(
  { database, username, password, tls, prepares }: PostgresAddress,
  { hostname, port }: PostgresAddress['hosts'][number],
  connectionsMax: number,
): SQL {
  const parts = { hostname, port, database, username, password }
  const options = { max: connectionsMax, bigint: true, prepare: prepares, connectionTimeout: connectSecondsMax }
  if (typeof tls === 'object') return new SQL({ adapter: 'postgres', ...parts, ...options, tls })
  // Only an address can say that TLS is used if the server offers it.
  const address = new URL(`postgres://host/?sslmode=${tls === 'never' ? 'disable' : 'prefer'}`)
  return new SQL(address, { adapter: 'postgres', ...parts, ...options })
}

/** Repeats a transaction, or a single statement, that PostgreSQL rolled back because of a concurrent one. */
async function repeated<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error
      // At random, so that two that collided do not collide again.
      await Bun.sleep(Math.random() * attempt * repeatMs)
    }
  }
}

async function transaction<Result>(
  pool: SQL,
  begin: string,
  work: (sql: Sql, connection: ReservedSQL) => Promise<Result>,
  owner: number,
): Promise<Result> {
  const connection = await pool.reserve()
  try {
    await connection.unsafe(begin)
    const result = await work(queriesOn(connection, owner), connection)
    // A transaction that failed commits nothing, and PostgreSQL does not call that an error.
    const { command } = (await connection.unsafe('COMMIT')) as { command?: string }
    if (command !== 'COMMIT') throw unavailable('PostgreSQL rolled the transaction back.')
    return result
  } catch (error) {
    // On a lost connection there is nothing to roll back.
    await connection.unsafe('ROLLBACK').catch(() => undefined)
    throw error
  } finally {
    connection.release()
  }
}

/** A list for `= ANY($1::bigint[])` or `= ANY($1::text[])`. */
export function listOf(values: readonly (string | number)[]): string {
  const items = values.map((value) =>
    typeof value === 'number' ? String(value) : `"${value.replaceAll(/[\\"]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}

/**
 * Rows for `json_to_recordset($1::text::json) AS r (…)`: one statement writes any number of rows. Binary members are
 * base64, for `decode(r.content, 'base64')`.
 */
export function rowsOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (value instanceof Uint8Array ? value.toBase64() : value))
}

/** A text as PostgreSQL can store it: it has no U+0000 and no half of a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

function queriesOn(connection: Pick<SQL, 'unsafe'>, owner: number): Sql {
  const query = async (text: string, values: Value[]) =>
    (await connection.unsafe(text, values.map(acceptable))) as Record<string, unknown>[] & { count: number }
  const all = async <Row>(text: string, values: Value[]) => {
    const rows = await query(text, values)
    for (const row of rows) toPlainValues(row)
    return Array.from(rows) as Row[]
  }
  return {
    all: (text, ...values) => all(text, values),
    get: async <Row>(text: string, ...values: Value[]) => (await all<Row>(text, values))[0],
    run: async (text, ...values) => (await query(text, values)).count,
    owner,
  }
}

/** PostgreSQL refuses a text with U+0000. An ID with one is then simply not found. */
function acceptable(value: Value): Value {
  return typeof value === 'string' && value.includes('\0') ? storable(value) : value
}

/** The client returns 64-bit integers as `bigint` and binary values as `Buffer`. Ours are all safe integers. */
function toPlainValues(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'bigint') row[name] = Number(value)
    else if (value instanceof Buffer) row[name] = new Uint8Array(value.buffer, value.byteOffset, value.length)
  }
}

const connectSecondsMax = 2
const closeSecondsMax = 5
const attemptsMax = 10
const repeatMs = 10
