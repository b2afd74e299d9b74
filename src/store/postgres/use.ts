import type { ReservedSQL, SQL } from 'bun'
import type { AppError } from '../../domain/errors.ts'

/** The queries of a use. */
export interface Connection {
  query(text: string, values?: unknown[]): SQL.Query<Rows>
  /** Several statements without values. */
  script(text: string): Promise<void>
  /** Keeps one connection for `work`: without it, a statement after a lost connection would use a new one. */
  hold<Result>(work: () => Promise<Result>): Promise<Result>
}

export type Rows = Record<string, unknown>[] & { count: number; command: string | null }

/**
 * One use of a client, which has one connection. The use can be given up at any time, even while the server is silent:
 * then its statement rejects at once, and the client is closed. The server is asked to cancel the statement, because
 * one that waits for a lock or a standby server would go on. Nevertheless, the statement may still take effect.
 */
export class Use implements Connection {
  #client: SQL | undefined
  #held: ReservedSQL | undefined
  #query: SQL.Query<Rows> | undefined
  #reason: AppError | undefined
  #leave: ((reason: AppError) => void) | undefined

  /** Why it was given up. */
  get reason(): AppError | undefined {
    return this.#reason
  }

  /** Waits for a client, until it is given up: then it calls `leave`. */
  async wait(waiting: Promise<SQL>, leave: (reason: AppError) => void): Promise<SQL> {
    this.#leave = leave
    if (this.#reason) leave(this.#reason)
    try {
      return await waiting
    } finally {
      this.#leave = undefined
    }
  }

  /** To be called once. */
  async of<Result>(client: SQL, work: (connection: Connection) => Promise<Result>): Promise<Result> {
    this.#client = client
    try {
      return await work(this)
    } finally {
      this.#client = undefined
    }
  }

  query(text: string, values: unknown[] = []): SQL.Query<Rows> {
    this.#query = (this.#held ?? this.#client!).unsafe<Rows>(text, values)
    return this.#query
  }

  async script(text: string): Promise<void> {
    this.#query = (this.#held ?? this.#client!).unsafe<Rows>(text)
    await this.#query.simple()
  }

  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#held = await this.#client!.reserve()
    try {
      return await work()
    } finally {
      this.#held.release()
      this.#held = undefined
    }
  }

  giveUp(reason: AppError): void {
    this.#reason = reason
    this.#leave?.(reason)
    if (!this.#client) return
    this.#query?.cancel()
    this.#client.close({ timeout: 0 }).catch(() => undefined)
  }
}
