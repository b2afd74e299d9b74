/**
 * Timers for the deadlines of runs and requests. Thousands are pending at once, and nearly all have one of a few
 * delays. Timers with the same delay expire in the order in which they were set. So each delay has a line of timers,
 * and one `setTimeout` for the first in that line. A `setTimeout` for each timer would take 300 bytes.
 */
export class TimerLines {
  readonly #lines = new Map<number, Line>()

  /** Calls `run` once after `delayMs`; `cancel` before that prevents it. */
  add(delayMs: number, run: () => void): { cancel(): void } {
    let line = this.#lines.get(delayMs)
    if (!line) {
      line = new Line(delayMs, this.#lines)
      this.#lines.set(delayMs, line)
    }
    return line.add(run)
  }
}

class Line {
  readonly #delayMs: number
  /** The map that holds this line while it has timers. */
  readonly #lines: Map<number, Line>
  /** In order of expiry. */
  readonly #timers = new Set<LineTimer>()
  #handle: ReturnType<typeof setTimeout> | undefined

  constructor(delayMs: number, lines: Map<number, Line>) {
    this.#delayMs = delayMs
    this.#lines = lines
  }

  add(run: () => void): LineTimer {
    const timer = new LineTimer(this, performance.now() + this.#delayMs, run)
    this.#timers.add(timer)
    if (this.#handle === undefined) this.#wait(this.#delayMs)
    return timer
  }

  remove(timer: LineTimer): void {
    if (!this.#timers.delete(timer) || this.#timers.size > 0) return
    clearTimeout(this.#handle)
    this.#lines.delete(this.#delayMs)
  }

  #wait(ms: number): void {
    this.#handle = setTimeout(() => this.#expire(), Math.min(Math.ceil(ms), timeoutMsMax))
  }

  #expire(): void {
    const now = performance.now()
    let left = expiredPerTurnMax
    for (const timer of this.#timers) {
      if (timer.endsAt > now || left === 0) {
        this.#wait(Math.max(0, timer.endsAt - now))
        return
      }
      left -= 1
      this.#timers.delete(timer)
      // Each in a microtask of its own, so that an exception in one does not stop the others.
      queueMicrotask(() => timer.fire())
    }
    this.#lines.delete(this.#delayMs)
  }
}

class LineTimer {
  readonly #line: Line
  /** When it expires, in milliseconds of `performance.now()`. */
  readonly endsAt: number
  #run: (() => void) | undefined

  constructor(line: Line, endsAt: number, run: () => void) {
    this.#line = line
    this.endsAt = endsAt
    this.#run = run
  }

  fire(): void {
    const run = this.#run
    this.#run = undefined
    run?.()
  }

  cancel(): void {
    this.#run = undefined
    this.#line.remove(this)
  }
}

/** The most timers that fire in one turn of the event loop, so that hundreds at once do not delay other work. */
const expiredPerTurnMax = 32
/** The longest delay that `setTimeout` accepts. A longer timer is set again when it fires. */
const timeoutMsMax = 2_147_483_647
