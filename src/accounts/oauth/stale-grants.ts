import type { Clock, Timer } from '../../domain/clock.ts'
import type { Store } from '../../store/store.ts'

export type StaleGrantsOptions = {
  store: Pick<Store, 'deleteStaleOAuth'>
  clock: Clock
  /** Called when a round failed; the next one tries again. */
  onFailure(error: unknown): void
}

/**
 * Deletes grants that have expired, and clients that nobody uses, once an hour and in small steps. Grants that have
 * expired have no effect before, either.
 */
export class StaleGrants {
  readonly #options: StaleGrantsOptions
  #timer: Timer | undefined
  #isStopped = false
  #round: Promise<void> = Promise.resolve()

  constructor(options: StaleGrantsOptions) {
    this.#options = options
    this.#after(firstRoundMs)
  }

  /** Resolves when the step in progress has ended; no other one begins. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#round
  }

  #after(delayMs: number): void {
    if (this.#isStopped) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#round = this.#delete()
    })
  }

  async #delete(): Promise<void> {
    const { store, clock, onFailure } = this.#options
    try {
      const now = clock.now()
      const kept = { unusedSince: now - unusedClientMs, usedSince: now - usedClientMs }
      while (!this.#isStopped && (await store.deleteStaleOAuth(now, kept)) > 0);
    } catch (error) {
      onFailure(error)
    }
    this.#after(roundMs)
  }
}

/** After the start, when the first callers have been served. */
const firstRoundMs = 60_000
const roundMs = 3_600_000
/** How long an unused client stays, and how long a client without grants stays. */
const unusedClientMs = 86_400_000
const usedClientMs = 400 * 86_400_000
