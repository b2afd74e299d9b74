import type { Clock, Timer } from '../../domain/clock.ts'
import type { JobQueue } from './job-queue.ts'

export type QueueRefillsOptions = {
  queue: JobQueue
  clock: Clock
  /** The pause between refills while a workspace is held back. */
  pauseMs: number
  refilled(): void
  failed(): void
}

/** Reads more jobs from the disk when the queue in memory needs them. */
export class QueueRefills {
  readonly #options: QueueRefillsOptions
  #timer: Timer | undefined

  constructor(options: QueueRefillsOptions) {
    this.#options = options
  }

  /**
   * To be called after each `take`. While a workspace is held back, the jobs of others may be on disk only. But then
   * each refill may find the same jobs again, so there is a pause before each one.
   */
  whenNeeded(hasTaken: boolean): void {
    const { queue, clock, pauseMs } = this.#options
    if (!queue.isUneven && (hasTaken || !queue.hasMore)) return
    if (!queue.isHeldBack) this.#refill()
    else {
      this.#timer ??= clock.setTimer(pauseMs, () => {
        this.#timer = undefined
        this.#refill()
      })
    }
  }

  close(): void {
    this.#timer?.cancel()
  }

  #refill(): void {
    const { queue, refilled, failed } = this.#options
    queue.refill().then(refilled, failed)
  }
}
