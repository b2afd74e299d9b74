import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'

export type Value = string | number | null | Uint8Array

/** The part of a connection that queries use. Statements are compiled once and kept, so texts must be constants. */
export interface Sql {
  get<Row>(text: string, ...values: Value[]): Row | undefined
  all<Row>(text: string, ...values: Value[]): Row[]
  /** The number of rows changed. */
  run(text: string, ...values: Value[]): number
  /** A cache of the numbers that log entries refer to. They never change. */
  readonly workflows: Map<string, WorkflowNumbers>
  /** Work that takes milliseconds calls it between its pieces; absent in threads that need not yield. */
  readonly yieldIfDue?: (() => void) | undefined
}

export type WorkflowNumbers = { workflow: number; workspace: number; workspaceId: string }

/** One handle on the database file, in one thread. */
export class Connection implements Sql {
  readonly #database: Database
  // `Database.query` has a cache of its own, but of 20 statements only.
  readonly #statements = new Map<string, Statement>()
  readonly #iterated = new Set<Statement>()
  readonly workflows = new Map<string, WorkflowNumbers>()
  readonly yieldIfDue: (() => void) | undefined

  constructor(path: string, yieldIfDue?: Sql['yieldIfDue']) {
    this.yieldIfDue = yieldIfDue
    this.#database = new Database(path, { readwrite: true, create: true, strict: true })
  }

  get<Row>(text: string, ...values: Value[]): Row | undefined {
    return (this.#statement(text).get(...values) as Row | null) ?? undefined
  }

  all<Row>(text: string, ...values: Value[]): Row[] {
    return this.#statement(text).all(...values) as Row[]
  }

  run(text: string, ...values: Value[]): number {
    return this.#statement(text).run(...values).changes
  }

  /** The rows one after the other, so that a table of any size fits in the memory. */
  *iterate<Row>(text: string, ...values: Value[]): Generator<Row> {
    const statement = this.#database.prepare(text)
    this.#iterated.add(statement)
    try {
      for (const row of statement.iterate(...values)) yield row as Row
    } finally {
      this.#iterated.delete(statement)
      statement.finalize()
    }
  }

  /** Runs a script of several statements, without caching them. */
  script(text: string): void {
    this.#database.run(text)
  }

  /** One transaction: commits, or rolls back when `run` throws. Cannot be nested. */
  write<Result>(run: () => Result): Result {
    return this.#transaction('BEGIN IMMEDIATE', run)
  }

  /** Like `write`, but always rolls back. */
  rehearse(run: () => void): void {
    this.run('BEGIN IMMEDIATE')
    try {
      run()
    } finally {
      this.rollBack()
    }
  }

  /** One snapshot for several reads. */
  read<Result>(run: () => Result): Result {
    return this.#transaction('BEGIN', run)
  }

  close(): void {
    // An open statement would keep the handle, its locks and its files open after the database was "closed".
    for (const statement of [...this.#statements.values(), ...this.#iterated]) statement.finalize()
    this.#statements.clear()
    this.#iterated.clear()
    this.#database.close(true)
  }

  #transaction<Result>(begin: string, run: () => Result): Result {
    this.run(begin)
    try {
      const result = run()
      this.run('COMMIT')
      return result
    } catch (error) {
      this.rollBack()
      throw error
    }
  }

  /** Some errors (disk full, I/O) have already rolled back. The first error is the one to report. */
  rollBack(): void {
    if (!this.#database.inTransaction) return
    try {
      this.run('ROLLBACK')
    } catch {
      // After such an error the handle is closed, which ends the transaction, too.
    }
  }

  #statement(text: string): Statement<unknown, SQLQueryBindings[]> {
    const known = this.#statements.get(text)
    if (known) return known
    const statement = this.#database.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }
}
