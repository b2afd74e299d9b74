import type { Clock, Timer } from '../domain/clock.ts'
import type { RateKind } from '../domain/plan.ts'
import type { RateWindowRow } from '../store/store.ts'
import type { OpenWindow } from './rate-limit.ts'

export type RateJournalOptions = {
  /** Writes windows down, and forgets those that ended before `at`. */
  save(windows: readonly RateWindowRow[], at: number): Promise<void>
  clock: Clock
}

/**
 * Keeps open windows on disk, so that a restart, or a crash, gives nobody a new minute: those that changed are written
 * together, in the background, at most once a second, and at once at the stop. What a crash forgets is a second at most.
 * Windows that nobody can fill are not written: an installation without limits pays a comparison.
 */
export class RateJournal {
  readonly #save: RateJournalOptions['save']
  readonly #clock: Clock
  #changed = new Map<OpenWindow, { kind: RateKind; userId: string }>()
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  constructor({ save, clock }: RateJournalOptions) {
    this.#save = save
    this.#clock = clock
  }

  /** For a limiter: notes the windows of its kind. */
  of(kind: RateKind): (userId: string, window: OpenWindow, limit: number) => void {
    return (userId, window, limit) => {
      if (limit > reachMax || this.#changed.has(window)) return
      this.#changed.set(window, { kind, userId })
      this.#writeLater()
    }
  }

  /** Writes what has changed. A disk that fails then is no reason not to stop. */
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

  /** Never rejects: windows of a write that failed are written with the next, while they are open. */
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
/** Requests of one account in a minute that a process can take at all: some 17,000 a second. */
const reachMax = 1_000_000
