import type { RateKind } from '../domain/account/tiers.ts'
import type { Clock, Timer } from '../domain/clock.ts'
import type { CountedWindow, RateWindowRow } from '../store/account-store.ts'
import type { OpenWindow } from './rate-limit.ts'

export type RateWindowPersistenceOptions = {
  /**
   * Adds to the stored windows and removes those that ended before `at`. Returns the windows as they are now if other
   * processes count, too.
   */
  save(windows: readonly CountedWindow[], at: number): Promise<readonly RateWindowRow[]>
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
  #changed = new Map<OpenWindow, Whose>()
  /** How many requests of a window are stored. */
  readonly #stored = new WeakMap<OpenWindow, number>()
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
      // A window that an earlier process began is stored up to this request.
      if (!this.#stored.has(window)) this.#stored.set(window, window.used - 1)
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
    const rows = open.map(([window, whose]) => {
      const { used, resetAt } = window
      return { ...whose, used, resetAt, added: used - (this.#stored.get(window) ?? 0) }
    })
    try {
      const totals = await this.#save(rows, now)
      for (const [index, [window]] of open.entries()) this.#stored.set(window, rows[index]!.used)
      if (totals.length > 0) this.#adopt(open, rows, totals)
    } catch {
      for (const [window, whose] of open) this.#changed.set(window, whose)
    }
  }

  /** Counts what other processes have counted, too. Requests may have come while the windows were being stored. */
  #adopt(open: readonly [OpenWindow, Whose][], sent: readonly CountedWindow[], totals: readonly RateWindowRow[]): void {
    const byKey = new Map(totals.map((total) => [keyOf(total), total]))
    for (const [index, [window, whose]] of open.entries()) {
      const total = byKey.get(keyOf(whose))
      if (!total) continue
      window.used += total.used - sent[index]!.used
      window.resetAt = total.resetAt
      this.#stored.set(window, total.used)
    }
  }
}

type Whose = { kind: RateKind; userId: string }

const keyOf = ({ kind, userId }: Whose) => `${kind} ${userId}`

const writeMs = 1_000
/** More requests per minute than one process can handle: about 17,000 a second. */
const reachMax = 1_000_000
