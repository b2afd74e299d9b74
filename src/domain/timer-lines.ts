/**
 * Timers of which thousands are pending and nearly all have the same few delays, as those that bound runs and requests do.
 * Those of one delay end in the order in which they began, so one timer of the engine serves them all: of its own, each would
 * take 300 bytes.
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
  /** Where it stands while it has timers. */
  readonly #lines: Map<number, Line>
  /** In the order in which they end. */
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
    for (const timer of this.#timers) {
      if (timer.endsAt > now) {
        this.#wait(timer.endsAt - now)
        return
      }
      this.#timers.delete(timer)
      // Each by itself: what one throws is not the others' business.
      queueMicrotask(() => timer.fire())
    }
    this.#lines.delete(this.#delayMs)
  }
}

class LineTimer {
  readonly #line: Line
  /** On the monotonic clock. */
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

/** The longest delay that one timer of the engine can hold. */
const timeoutMsMax = 2_147_483_647
