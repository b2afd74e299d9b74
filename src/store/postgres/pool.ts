import type { SQL } from 'bun'
import type { PoolUse } from '../store.ts'
import type { Connection, Use } from './use.ts'

/**
 * The connections to one server, made when they are needed. The one that became free last is used next, so that as few
 * of the server's processes as possible are busy and their caches stay warm: a group takes twice as long when ten
 * connections take turns.
 */
export class Pool {
  readonly #open: () => SQL
  readonly #connectionsMax: number
  readonly #clients = new Set<SQL>()
  readonly #free: SQL[] = []
  /** In the order in which they came. */
  readonly #waiting = new Set<PromiseWithResolvers<SQL>>()

  /** `open` makes a client with one connection, which connects again by itself. */
  constructor(open: () => SQL, connectionsMax: number) {
    this.#open = open
    this.#connectionsMax = connectionsMax
  }

  /** A connection that was closed because nothing used it still counts as idle: it opens again by itself. */
  get inUse(): PoolUse {
    const idle = this.#free.length
    return { busy: this.#clients.size - idle, idle, waiting: this.#waiting.size }
  }

  async use<Result>(use: Use, work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const client = this.#take() ?? (await this.#wait(use))
    try {
      return await use.of(client, work)
    } finally {
      // A use that was given up has closed its client.
      if (use.reason) this.#clients.delete(client)
      const usable = use.reason ? this.#take() : client
      if (usable) this.#give(usable)
    }
  }

  /** Uses under way may take this long. */
  async close(timeoutS: number): Promise<void> {
    await Promise.allSettled([...this.#clients].map((client) => client.close({ timeout: timeoutS })))
  }

  #take(): SQL | undefined {
    const free = this.#free.pop()
    if (free || this.#clients.size === this.#connectionsMax) return free
    const client = this.#open()
    this.#clients.add(client)
    return client
  }

  #wait(use: Use): Promise<SQL> {
    const place = Promise.withResolvers<SQL>()
    this.#waiting.add(place)
    return use.wait(place.promise, (reason) => {
      this.#waiting.delete(place)
      place.reject(reason)
    })
  }

  #give(client: SQL): void {
    const [next] = this.#waiting
    if (!next) {
      this.#free.push(client)
      return
    }
    this.#waiting.delete(next)
    next.resolve(client)
  }
}
