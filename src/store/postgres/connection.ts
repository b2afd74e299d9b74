import { type ReservedSQL, SQL } from 'bun'
import { isConflict, storageError, unavailable } from './failures.ts'

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
}

export type DatabaseOptions = {
  url: string
  /** The most connections. */
  connectionsMax: number
}

/** A pool of connections to one database. Every method rejects with `AppError` `STORAGE_UNAVAILABLE` when it is down. */
export class Database implements Sql {
  readonly #pool: SQL

  constructor({ url, connectionsMax }: DatabaseOptions) {
    this.#pool = new SQL(url, { max: connectionsMax, bigint: true, connectionTimeout: connectSecondsMax })
  }

  // A single statement is a transaction of its own, on any connection.
  get<Row>(text: string, ...values: Value[]): Promise<Row | undefined> {
    return withStorageErrors(() => queriesOn(this.#pool).get<Row>(text, ...values))
  }

  all<Row>(text: string, ...values: Value[]): Promise<Row[]> {
    return withStorageErrors(() => queriesOn(this.#pool).all<Row>(text, ...values))
  }

  run(text: string, ...values: Value[]): Promise<number> {
    return withStorageErrors(() => queriesOn(this.#pool).run(text, ...values))
  }

  /**
   * One transaction: commits, or rolls back when `work` rejects. Concurrent transactions see each other's commits
   * between two statements, so `work` locks the rows that it reads and then changes.
   */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return withStorageErrors(() => this.#transaction('BEGIN', work))
  }

  /**
   * One transaction that behaves as if no other ran at the same time. PostgreSQL refuses the later one of two that
   * contradict each other, and it is repeated, so `work` may run several times.
   */
  async change<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return withStorageErrors(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#transaction('BEGIN ISOLATION LEVEL SERIALIZABLE', work)
        } catch (error) {
          if (!isConflict(error) || attempt === attemptsMax) throw error
          // At random, so that two that collided do not collide again.
          await Bun.sleep(Math.random() * attempt * repeatMs)
        }
      }
    })
  }

  /** One transaction that may also run scripts of several statements. */
  script<Result>(work: (sql: Sql, run: (text: string) => Promise<void>) => Promise<Result>): Promise<Result> {
    return withStorageErrors(() =>
      this.#transaction('BEGIN', (sql, connection) =>
        work(sql, async (text) => {
          await connection.unsafe(text).simple()
        }),
      ),
    )
  }

  async close(): Promise<void> {
    await this.#pool.close({ timeout: closeSecondsMax })
  }

  async #transaction<Result>(
    begin: string,
    work: (sql: Sql, connection: ReservedSQL) => Promise<Result>,
  ): Promise<Result> {
    const connection = await this.#pool.reserve()
    try {
      await connection.unsafe(begin)
      const result = await work(queriesOn(connection), connection)
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

function queriesOn(connection: Pick<SQL, 'unsafe'>): Sql {
  const query = async (text: string, values: Value[]) =>
    (await connection.unsafe(text, values)) as Record<string, unknown>[] & { count: number }
  const all = async <Row>(text: string, values: Value[]) => {
    const rows = await query(text, values)
    for (const row of rows) toPlainValues(row)
    return Array.from(rows) as Row[]
  }
  return {
    all: (text, ...values) => all(text, values),
    get: async <Row>(text: string, ...values: Value[]) => (await all<Row>(text, values))[0],
    run: async (text, ...values) => (await query(text, values)).count,
  }
}

/** The client returns 64-bit integers as `bigint` and binary values as `Buffer`. Ours are all safe integers. */
function toPlainValues(row: Record<string, unknown>): void {
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'bigint') row[name] = Number(value)
    else if (value instanceof Buffer) row[name] = new Uint8Array(value.buffer, value.byteOffset, value.length)
  }
}

async function withStorageErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw storageError(error) ?? error
  }
}

const connectSecondsMax = 2
const closeSecondsMax = 5
const attemptsMax = 10
const repeatMs = 10
