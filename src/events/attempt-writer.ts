import type { Clock, Timer } from '../domain/clock.ts'
import type { EndedAttempt } from '../domain/delivery.ts'
import { AppError } from '../domain/errors.ts'
import type { Store } from '../store/store.ts'

export type AttemptWriterOptions = {
  store: Pick<Store, 'endAttempts'>
  clock: Pick<Clock, 'setTimer'>
}

/**
 * Writes down attempts to deliver webhooks that ended, many in one commit. No caller waits for that, so they gather for some
 * milliseconds, and for as long as the group before is on its way: a commit costs as much as thirty of its rows. It
 * bounds nothing: who makes attempts has few under way, and makes them again when they cannot be written.
 */
export class AttemptWriter {
  readonly #options: AttemptWriterOptions
  #waiting: Entry[] = []
  #gathering: Timer | undefined
  #underWay: Promise<void> | undefined

  constructor(options: AttemptWriterOptions) {
    this.#options = options
  }

  /** Resolves when it is on disk. Rejects with `STORAGE_UNAVAILABLE` or `OVERLOADED`, with anything else for a bug. */
  readonly write = (attempt: EndedAttempt): Promise<void> => {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ attempt, resolve, reject })
      if (this.#waiting.length >= groupMax) this.#pump()
      else this.#gathering ??= this.#options.clock.setTimer(gatherMs, () => this.#pump())
    })
  }

  /** Resolves when all that waits now is on disk or rejected. */
  async flush(): Promise<void> {
    this.#pump()
    while (this.#underWay) await this.#underWay
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    await this.flush()
  }

  #pump(): void {
    this.#gathering?.cancel()
    this.#gathering = undefined
    if (this.#underWay || this.#waiting.length === 0) return
    const group = this.#waiting.splice(0, groupMax)
    this.#underWay = this.#write(group).finally(() => {
      this.#underWay = undefined
      // Those whose time came meanwhile have no timer any more.
      if (!this.#gathering) this.#pump()
    })
  }

  /** Never rejects: every entry of the group learns its outcome. */
  async #write(group: readonly Entry[]): Promise<void> {
    try {
      await this.#options.store.endAttempts(group.map(({ attempt }) => attempt))
      for (const { resolve } of group) resolve()
    } catch (error) {
      // An outage is everybody's; anything else is one row's fault, whose neighbours are not to share it.
      if (group.length === 1 || error instanceof AppError) for (const { reject } of group) reject(error)
      else for (const entry of group) await this.#write([entry])
    }
  }
}

type Entry = { attempt: EndedAttempt; resolve(): void; reject(error: unknown): void }

const groupMax = 512
const gatherMs = 5
