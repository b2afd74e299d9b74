import type { Clock } from './clock.ts'
import type { InSlices, Slices } from './slices.ts'

/**
 * Does large pieces of work in turns: a few milliseconds of one of them, then some turns of the event loop, so that
 * requests are served in between. The service has one queue for everything that can pause, because two would take two
 * such slices in each turn.
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
  readonly run: InSlices = (slices) => this.#add(slices, this.#waiting.length)

  /** The same for work that has waited elsewhere: it takes turns at once, however many others wait. */
  readonly runSoon: InSlices = (slices) => this.#add(slices, turnsMax - 1)

  /** Does work at once for the length of a turn. Returns its last step. */
  begin<Result>(slices: Slices<Result>): IteratorResult<undefined, Result> {
    const until = this.#clock.monotonic() + turnMs
    let step = slices.next()
    while (!step.done && this.#clock.monotonic() < until) step = slices.next()
    return step
  }

  #add<Result>(slices: Slices<Result>, index: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const isDone = () => {
        try {
          const { done, value } = this.begin(slices)
          if (done) resolve(value)
          return done === true
        } catch (error) {
          reject(error)
          return true
        }
      }
      this.#waiting.splice(index, 0, isDone)
      if (this.#waiting.length === 1) this.#rest(1)
    })
  }

  #rest(turns: number): void {
    setImmediate(() => (turns > 1 ? this.#rest(turns - 1) : this.#turn()))
  }

  #turn(): void {
    const isDone = this.#waiting[0] as () => boolean
    const done = isDone()
    this.#waiting.shift()
    if (!done) this.#waiting.splice(turnsMax - 1, 0, isDone)
    if (this.#waiting.length > 0) this.#rest(restTurns)
  }
}

const turnMs = 5
/**
 * Turns of the event loop after a slice. A request needs about three: it arrives, its run is committed, and it gets its
 * response. With one, it would wait for three slices. Without requests, they take microseconds.
 */
const restTurns = 3
/** So many pieces of work take turns; the others wait, because each one that has begun holds a part of its result. */
const turnsMax = 4
