import type { Clock } from '../../domain/clock.ts'

/**
 * Does expensive work one after the other. After each piece of work, others have the main thread for as long as the
 * work took. Everything counts that happens before the next turn of the event loop, such as the start of a run. This is
 * apart from `domain/slice-queue.ts` because a parser cannot pause, so only a rest after it leaves time for others.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimer'>
  #previous: Promise<void> = Promise.resolve()
  #reading: Promise<void> = Promise.resolve()

  constructor(clock: Pick<Clock, 'monotonic' | 'setTimer'>) {
    this.#clock = clock
  }

  /** Resolves in another turn of the event loop, in which no other body is read. */
  next(): Promise<void> {
    this.#reading = this.#reading.then(() => new Promise(setImmediate))
    return this.#reading
  }

  /** Resolves, or rejects, as the work does. */
  async run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const previous = this.#previous
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#previous = promise
    await previous
    const startedAt = this.#clock.monotonic()
    try {
      const result = await work()
      // The work that follows, such as the start of a run, has a turn of its own.
      await new Promise(setImmediate)
      return result
    } finally {
      setImmediate(() => {
        const tookMs = this.#clock.monotonic() - startedAt
        if (tookMs < 1) resolve()
        else this.#clock.setTimer(Math.min(tookMs, restMsMax), resolve)
      })
    }
  }
}

/** Work that waits for others, such as a slow parser in another thread, must not stop all large bodies. */
const restMsMax = 50
