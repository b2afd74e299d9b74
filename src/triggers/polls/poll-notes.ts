import type { Timer } from '../../domain/clock.ts'
import type { PollNote } from '../../domain/poll/poll.ts'
import type { PollerOptions } from './poller-options.ts'

type NotesOptions = Pick<PollerOptions<never>, 'clock' | 'onTrouble'> & {
  store: Pick<PollerOptions<never>['store'], 'notePolls'>
}

/**
 * Collects the results of polls without new items, so that ten thousand polls do not write ten thousand times. When
 * they are lost, the polls only happen again.
 */
export class PollNotes {
  readonly #options: NotesOptions
  #notes = new Map<number, PollNote>()
  #timer: Timer | undefined
  #flushing: Promise<void> = Promise.resolve()

  constructor(options: NotesOptions) {
    this.#options = options
  }

  add(note: PollNote): void {
    this.#notes.set(note.number, note)
    this.#timer ??= this.#options.clock.setTimer(flushMs, () => void this.flush())
  }

  /** Resolves when all notes so far are written, or could not be. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#flushing = this.#flushing.then(() => this.#write())
    return this.#flushing
  }

  async #write(): Promise<void> {
    const notes = [...this.#notes.values()]
    if (notes.length === 0) return
    this.#notes = new Map()
    try {
      await this.#options.store.notePolls(notes)
    } catch (error) {
      this.#options.onTrouble(error)
    }
  }
}

const flushMs = 5_000
