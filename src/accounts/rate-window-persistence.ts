import type { RateKind } from '../domain/account/tiers.ts'
import type { Clock, Timer } from '../domain/clock.ts'
import type { RateWindowRow } from '../store/account-store.ts'
import type { OpenWindow } from './rate-limit.ts'

export type RateWindowPersistenceOptions = {
  /** Stores windows and removes those that ended before `at`. */
  save(windows: readonly RateWindowRow[], at: number): Promise<void>
  clock: Clock
}

/**
 * Stores open rate windows, so that a restart or crash does not reset them. Changed windows are written together in the
 * background, at most once a second, and immediately at stop. A crash loses at most one second. Windows whose limit
 * cannot be reached are not written, so an installation without limits pays only a comparison.
 */
export class RateWindowPersistence {
  readonly #save: RateWindowPersistenceOptions['save']
  readonly #clock: Clock
  #changed = new Map<OpenWindow, { kind: RateKind; userId: string }>()
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  constructor({ save, clock }: RateWindowPersistenceOptions) {
    this.#save = save
    this.#clock = clock
  }

  /** The callback of a limiter: notes changed windows of its kind. */
  of(kind: RateKind): (userId: string, window: OpenWindow, limit: number) => void {
    return (userId, window, limit) => {
      if (limit > reachMax || this.#changed.has(window)) return
      this.#changed.set(window, { kind, userId })
      this.#writeLater()
    }
  }

  /** Writes the changed windows. A disk error does not prevent the stop. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#writing
    await this.#write()
  }

  #writeLater(): void {
    if (this.#writing === undefined) this.#timer ??= this.#clock.setTimer(writeMs, () => this.#start())
  }

  #start(): void {
    this.#timer = undefined
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined
      if (this.#changed.size > 0) this.#writeLater()
    })
  }

  /** Never rejects. Windows of a failed write are written again with the next one while they are open. */
  async #write(): Promise<void> {
    const now = this.#clock.now()
    const open = [...this.#changed].filter(([{ resetAt }]) => resetAt > now)
    this.#changed = new Map()
    if (open.length === 0) return
    const rows = open.map(([{ used, resetAt }, { kind, userId }]) => ({ kind, userId, used, resetAt }))
    try {
      await this.#save(rows, now)
    } catch {
      for (const [window, whose] of open) this.#changed.set(window, whose)
    }
  }
}

const writeMs = 1_000
/** More requests per minute than one process can handle: about 17,000 a second. */
const reachMax = 1_000_000
