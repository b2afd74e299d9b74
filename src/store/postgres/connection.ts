import type { AppError } from '../../domain/errors.ts'
import type { PostgresAddress } from './address.ts'
import { type Copier, copierOn } from './copier.ts'
import { isConflict, isLost, isReadOnly, silent, storageError, unavailable } from './failures.ts'
import { findPrimary, type Server } from './server.ts'
import { type Connection, Use } from './use.ts'

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
  /** Gives no call up, however long it takes. */
  isPatient?: boolean
}

/**
 * A pool of connections to one database. Every method rejects with `AppError` `STORAGE_UNAVAILABLE` when it is down.
 * With several servers, the pool belongs to the one that accepts changes; when it fails, the next call looks for it.
 *
 * A server that hangs reports nothing. So when a call takes long, a question on another connection finds out whether
 * the server still commits. If it does, the call may take its time. If it is silent, the call is given up.
 */
export class Database implements Sql {
  /** See `Sql`. A process gets its number when it joins the others (cluster/membership.ts). */
  owner = 0
  readonly #options: DatabaseOptions
  #server: Promise<Server> | undefined

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  get address(): PostgresAddress {
    return this.#options.address
  }

  // A single statement is a transaction of its own, on any connection.
  get<Row>(text: string, ...values: Value[]): Promise<Row | undefined> {
    return this.#with((connection) => this.#on(connection).get<Row>(text, ...values))
  }

  all<Row>(text: string, ...values: Value[]): Promise<Row[]> {
    return this.#with((connection) => this.#on(connection).all<Row>(text, ...values))
  }

  run(text: string, ...values: Value[]): Promise<number> {
    return this.#with((connection) => this.#on(connection).run(text, ...values))
  }

  /**
   * One transaction: commits, or rolls back when `work` rejects. Concurrent transactions see each other's commits
   * between two statements, so `work` locks the rows that it reads and then changes. Of two transactions that wait for
   * each other, one is repeated, so `work` may run several times.
   */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#with((connection) => transaction(connection, beginForFewRows, () => work(this.#on(connection))))
  }

  /**
   * One transaction that behaves as if no other ran at the same time. PostgreSQL refuses the later one of two that
   * contradict each other, and it is repeated, so `work` may run several times.
   */
  change<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#with((connection) =>
      transaction(connection, 'BEGIN ISOLATION LEVEL SERIALIZABLE', () => work(this.#on(connection))),
    )
  }

  /**
   * One transaction of the upkeep: it may also run scripts of several statements, and take as long as it needs. `work`
   * may run several times.
   */
  maintain<Result>(work: (sql: Sql, run: (text: string) => Promise<void>) => Promise<Result>): Promise<Result> {
    return this.#with(
      (connection) =>
        transaction(connection, 'BEGIN', () => work(this.#on(connection), (text) => connection.script(text))),
      Number.POSITIVE_INFINITY,
    )
  }

  /**
   * One transaction that may also copy rows in bulk. `begin`: the statement that starts it. It is never repeated,
   * because `work` may have read what it copies.
   */
  bulk<Result>(begin: string, work: (sql: Sql, copier: Copier) => Promise<Result>): Promise<Result> {
    return this.#with(
      (connection) => transaction(connection, begin, () => work(this.#on(connection), copierOn(connection))),
      Number.POSITIVE_INFINITY,
      false,
    )
  }

  /**
   * Rejects when statements are prepared and a pooler does not keep them apart. The clients of this process give their
   * statements the same names, so a second one, after the first, finds a statement that is not its own.
   */
  async assertPrepares(): Promise<void> {
    const answer = await (await this.#find()).askWhetherStandby()
    if (answer instanceof Error) throw storageError(answer) ?? answer
  }

  /** Whether a commit works now; never rejects. */
  async commits(): Promise<boolean> {
    try {
      return (await (await this.#find()).askWhetherCommits()) === 'commits'
    } catch {
      return false
    }
  }

  readonly poolUse = async () => (await this.#server?.catch(() => undefined))?.poolUse

  async close(): Promise<void> {
    const server = await this.#server?.catch(() => undefined)
    await server?.close(closeSecondsMax)
  }

  #on(connection: Connection): Sql {
    return queriesOn(connection, this.owner)
  }

  async #with<Result>(
    work: (connection: Connection) => Promise<Result>,
    callMs = callMsMax,
    repeats = true,
  ): Promise<Result> {
    const found = this.#find()
    const use = new Use()
    let unwatch: (() => void) | undefined
    try {
      const server = await found
      unwatch = this.#options.isPatient ? undefined : watch(use, server, callMs)
      return await server.use(use, (connection) => (repeats ? repeated(() => work(connection)) : work(connection)))
    } catch (error) {
      if (this.#mustMove(error, use)) this.#abandon(found)
      throw use.reason ?? storageError(error) ?? error
    } finally {
      unwatch?.()
    }
  }

  #find(): Promise<Server> {
    if (this.#server) return this.#server
    const found = findPrimary(this.#options.address, this.#options.connectionsMax)
    this.#server = found
    found.catch(() => this.#abandon(found))
    return found
  }

  /** Whether another server may have taken over, or this address leads to another server now. */
  #mustMove(error: unknown, use: Use): boolean {
    return isReadOnly(error) || (this.#options.address.hosts.length > 1 && (use.reason !== undefined || isLost(error)))
  }

  /** The next call looks for the primary again. Calls that still use this server end by themselves. */
  #abandon(found: Promise<Server>): void {
    if (this.#server !== found) return
    this.#server = undefined
    void found.then((server) => server.close(closeSecondsMax)).catch(() => undefined)
  }
}

/** Asks again and again while a use takes long, and gives it up when the server is silent. Returns what ends it. */
function watch(use: Use, server: Server, callMs: number): () => void {
  const startedAt = performance.now()
  let isOver = false
  let timer = setTimeout(doubt, patienceMs)
  async function doubt() {
    const answer = await server.askWhetherCommits()
    if (isOver) return
    if (answer === 'silent') use.giveUp(silent())
    else if (performance.now() - startedAt > callMs) use.giveUp(tooLong(callMs))
    else timer = setTimeout(doubt, patienceMs)
  }
  return () => {
    isOver = true
    clearTimeout(timer)
  }
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

function transaction<Result>(connection: Connection, begin: string, work: () => Promise<Result>): Promise<Result> {
  return connection.hold(async () => {
    try {
      await connection.script(`${begin}; ${limitIdleTime}`)
      const result = await work()
      // A transaction that failed commits nothing, and PostgreSQL does not call that an error.
      const { command } = await connection.query('COMMIT')
      if (command !== 'COMMIT') throw unavailable('PostgreSQL rolled the transaction back.')
      return result
    } catch (error) {
      // On a lost connection there is nothing to roll back.
      await connection.query('ROLLBACK').catch(() => undefined)
      throw error
    }
  })
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

function queriesOn(connection: Connection, owner: number): Sql {
  const query = async (text: string, values: Value[]) => await connection.query(text, values.map(acceptable))
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

function tooLong(callMs: number): AppError {
  return unavailable(`PostgreSQL did not finish a call within ${callMs / 1000} seconds.`)
}

/**
 * If this process is suspended or cut off in the middle of a transaction, the rows that the transaction has locked are
 * free again after this time. `SET LOCAL` works behind PgBouncer, too.
 */
const limitIdleTime = "SET LOCAL idle_in_transaction_session_timeout = '5s'"

/**
 * Writes change a few rows. Connections keep the plans of their statements, also one that was made while a table was
 * small: it would read the whole table each time, until autovacuum notices that the table has grown. Compiling
 * statements does not pay off.
 */
const beginForFewRows = 'BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL jit = off'

/** How long a call may take before it is doubted. */
const patienceMs = 900
/** The longest time of a call, for example while somebody else locks a table. */
const callMsMax = 30_000
const closeSecondsMax = 5
const attemptsMax = 10
const repeatMs = 10
