import type { Clock, Timer } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { EndedAttempt } from '../domain/webhook/delivery.ts'
import type { Store } from '../store/store.ts'

export type AttemptWriterOptions = {
  store: Pick<Store, 'endAttempts'>
  clock: Pick<Clock, 'setTimer'>
}

/**
 * Records ended attempts of webhook deliveries, many in one commit. No caller waits for them, so they gather for some
 * milliseconds, and while the previous group is being committed: a commit costs as much as thirty of its rows. It needs
 * no limit: the dispatcher has few attempts in progress, and repeats attempts that could not be recorded.
 */
export class AttemptWriter {
  readonly #options: AttemptWriterOptions
  #waiting: Entry[] = []
  #gathering: Timer | undefined
  #underWay: Promise<void> | undefined

  constructor(options: AttemptWriterOptions) {
    this.#options = options
  }

  /**
   * Resolves when the attempt is recorded. Rejects with `STORAGE_UNAVAILABLE` or `OVERLOADED`, with anything else for a
   * bug.
   */
  readonly write = (attempt: EndedAttempt): Promise<void> => {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, resolve, reject })
      if (this.#waiting.length >= groupMax) this.#dispatch()
      else this.#gathering ??= this.#options.clock.setTimer(gatherMs, () => this.#dispatch())
    })
  }

  /** Resolves when everything that waits now is recorded or rejected. */
  async flush(): Promise<void> {
    this.#dispatch()
    while (this.#underWay) await this.#underWay
  }

  /** Records everything that waits. */
  async stop(): Promise<void> {
    await this.flush()
  }

  #dispatch(): void {
    this.#gathering?.cancel()
    this.#gathering = undefined
    if (this.#underWay || this.#waiting.length === 0) return
    const group = this.#waiting.splice(0, groupMax)
    this.#underWay = this.#write(group).finally(() => {
      this.#underWay = undefined
      // Attempts that became due meanwhile have no timer any more.
      if (!this.#gathering) this.#dispatch()
    })
  }

  /** Never rejects: settles every entry of the group. */
  async #write(group: readonly Entry[]): Promise<void> {
    try {
      await this.#options.store.endAttempts(group.map(({ attempt }) => attempt))
      for (const { resolve } of group) resolve()
    } catch (error) {
      // An outage concerns the whole group. Any other error is caused by a single row, and the others must not fail
      // with it.
      if (group.length === 1 || error instanceof AppError) for (const { reject } of group) reject(error)
      else for (const entry of group) await this.#write([entry])
    }
  }
}

type Entry = { attempt: EndedAttempt; resolve(): void; reject(error: unknown): void }

const groupMax = 512
const gatherMs = 5
