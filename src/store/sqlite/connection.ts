import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'

export type Value = string | number | null | Uint8Array

/** What queries need of a handle. Statements are compiled once and kept, so texts must be constants. */
export interface Sql {
  get<Row>(text: string, ...values: Value[]): Row | undefined
  all<Row>(text: string, ...values: Value[]): Row[]
  /** The number of rows changed. */
  run(text: string, ...values: Value[]): number
  /** Numbers that log entries go by, as far as they were read before. They never change. */
  readonly workflows: Map<string, WorkflowNumbers>
  /** To be called between pieces of work that takes milliseconds; absent where the thread need not leave others their turn. */
  readonly breathe?: (() => void) | undefined
}

export type WorkflowNumbers = { workflow: number; workspace: number; workspaceId: string }

/** One handle on the database file, in one thread. */
export class Connection implements Sql {
  readonly #database: Database
  // `Database.query` has a cache of its own, but of 20 statements only.
  readonly #statements = new Map<string, Statement>()
  readonly workflows = new Map<string, WorkflowNumbers>()
  readonly breathe: (() => void) | undefined

  constructor(path: string, breathe?: Sql['breathe']) {
    this.breathe = breathe
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

  /** Runs a script of several statements, not kept. */
  script(text: string): void {
    this.#database.run(text)
  }

  /** All of `run`, or nothing of it. Not nested. */
  write<Result>(run: () => Result): Result {
    return this.#transaction('BEGIN IMMEDIATE', run)
  }

  /** Like `write`, and leaves nothing behind. */
  rehearse(run: () => void): void {
    this.run('BEGIN IMMEDIATE')
    try {
      run()
    } finally {
      this.#rollBack()
    }
  }

  /** Several reads of one moment. */
  read<Result>(run: () => Result): Result {
    return this.#transaction('BEGIN', run)
  }

  close(): void {
    // An open statement would keep the handle, its locks and its files alive behind a "closed" database.
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    this.#database.close(true)
  }

  #transaction<Result>(begin: string, run: () => Result): Result {
    this.run(begin)
    try {
      const result = run()
      this.run('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** Some errors (disk full, I/O) have rolled back by themselves. The first error is the one to report. */
  #rollBack(): void {
    if (!this.#database.inTransaction) return
    try {
      this.run('ROLLBACK')
    } catch {
      // The handle is closed after such an error, which ends the transaction too.
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
