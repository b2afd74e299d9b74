import type { Clock, Timer } from '../domain/clock.ts'

type Pooled = { readonly isUsable: boolean; close(): void }

type Waiting = { resolve(): void; reject(reason: unknown): void }

export type PoolBounds = {
  /** Connections with one credential. */
  connectionsMax: number
  /** An idle connection is closed after this time. */
  idleMs: number
}

/**
 * Connections by credential, made when they are needed. A credential that has changed has another key, so that no
 * connection outlives what it was made with for longer than its current use and the idle time.
 */
export class Pools<Connection extends Pooled> {
  readonly #bounds: PoolBounds
  readonly #clock: Clock
  readonly #pools = new Map<string, Pool<Connection>>()

  constructor(bounds: PoolBounds, clock: Clock) {
    this.#bounds = bounds
    this.#clock = clock
  }

  /** Open connections, of all credentials. */
  get size(): number {
    return [...this.#pools.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /**
   * Uses a connection. `owner` identifies the credential, `version` its content: connections of the owner with another
   * version are closed. Rejects with the signal's reason when it aborts while the use waits for a connection.
   */
  async use<Result>(
    { owner, version }: { owner: string; version: string },
    open: () => Promise<Connection>,
    work: (connection: Connection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    let pool = this.#pools.get(owner)
    if (pool && pool.version !== version) {
      pool.retire()
      pool = undefined
    }
    if (!pool) {
      const forget = () => this.#pools.get(owner) === pool && this.#pools.delete(owner)
      pool = new Pool(version, this.#bounds, this.#clock, forget)
      this.#pools.set(owner, pool)
    }
    return await pool.use(open, work, signal)
  }

  stop(): void {
    for (const pool of [...this.#pools.values()]) pool.retire()
    this.#pools.clear()
  }
}

class Pool<Connection extends Pooled> {
  readonly version: string
  readonly #bounds: PoolBounds
  readonly #clock: Clock
  readonly #onEmpty: () => void
  /** The one that became free last is used next, so that others become old enough to be closed. */
  readonly #idle: { connection: Connection; timer: Timer }[] = []
  readonly #waiting = new Set<Waiting>()
  /** In use, or being opened. */
  #taken = 0
  #isRetired = false

  constructor(version: string, bounds: PoolBounds, clock: Clock, onEmpty: () => void) {
    this.version = version
    this.#bounds = bounds
    this.#clock = clock
    this.#onEmpty = onEmpty
  }

  get size(): number {
    return this.#taken + this.#idle.length
  }

  async use<Result>(
    open: () => Promise<Connection>,
    work: (connection: Connection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    await this.#place(signal)
    let connection: Connection | undefined
    try {
      connection = this.#takeIdle() ?? (await open())
      return await work(connection)
    } finally {
      if (connection) this.#give(connection)
      const [next] = this.#waiting
      // The place passes to the next use directly, so that no other one takes it in between.
      if (next) next.resolve()
      else this.#taken -= 1
      if (this.size === 0) this.#onEmpty()
    }
  }

  /** Closes idle connections; those in use are closed afterwards. */
  retire(): void {
    this.#isRetired = true
    for (const { connection, timer } of this.#idle.splice(0)) {
      timer.cancel()
      connection.close()
    }
  }

  async #place(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#taken < this.#bounds.connectionsMax) this.#taken += 1
    else await this.#turn(signal)
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(place)
        signal.removeEventListener('abort', abort)
      }
      const place: Waiting = {
        resolve: () => {
          leave()
          resolve()
        },
        reject,
      }
      const abort = () => {
        leave()
        reject(signal.reason)
      }
      this.#waiting.add(place)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  #takeIdle(): Connection | undefined {
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      last.timer.cancel()
      if (last.connection.isUsable) return last.connection
      last.connection.close()
    }
    return undefined
  }

  #give(connection: Connection): void {
    if (this.#isRetired || !connection.isUsable) {
      connection.close()
      return
    }
    const timer = this.#clock.setTimer(this.#bounds.idleMs, () => {
      const index = this.#idle.findIndex((each) => each.connection === connection)
      if (index === -1) return
      this.#idle.splice(index, 1)
      connection.close()
      if (this.size === 0) this.#onEmpty()
    })
    this.#idle.push({ connection, timer })
  }
}
