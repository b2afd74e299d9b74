import type { Clock } from '../domain/clock.ts'
import type { Slices } from '../domain/slices.ts'

/**
 * Does large pieces of work in turns: a few milliseconds of one of them in each turn of the event loop, so that
 * requests are served in between.
 */
export class SliceQueue {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #waiting: (() => boolean)[] = []

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Pieces of work that are not done. */
  get length(): number {
    return this.#waiting.length
  }

  /** Resolves with the result. Rejects with what the work throws. */
  run<Result>(slices: Slices<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          const { done, value } = slices.next()
          if (done) resolve(value)
          return done === true
        } catch (error) {
          reject(error)
          return true
        }
      })
      if (this.#waiting.length === 1) setImmediate(() => this.#turn())
    })
  }

  #turn(): void {
    const until = this.#clock.monotonic() + turnMs
    const isDone = this.#waiting[0] as () => boolean
    let done = isDone()
    while (!done && this.#clock.monotonic() < until) done = isDone()
    this.#waiting.shift()
    if (!done) this.#waiting.push(isDone)
    if (this.#waiting.length > 0) setImmediate(() => this.#turn())
  }
}

const turnMs = 5
