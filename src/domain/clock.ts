import { TimerLines } from './timer-lines.ts'

/** Time as a parameter: the system clock in production, a clock that tests advance. */
export type Clock = {
  /** Epoch milliseconds, UTC. */
  now(): number
  /** A monotonic reading in milliseconds, with fractions. Only differences have a meaning. */
  monotonic(): number
  /** Calls `run` once after `delayMs`, unless `cancel` is called first. */
  setTimer(delayMs: number, run: () => void): Timer
}

export type Timer = { cancel(): void }

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const abort = () => {
      timer.cancel()
      reject(signal.reason)
    }
    const timer = clock.setTimer(delayMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    signal.addEventListener('abort', abort, { once: true })
  })
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  setTimer: (delayMs, run) => (delayMs < sharedFromMs ? new SystemTimer(delayMs, run) : longTimers.add(delayMs, run)),
}

/** Shorter timers are rare, so they do not need to share one. */
const sharedFromMs = 1_000
const longTimers = new TimerLines()

class SystemTimer implements Timer {
  readonly #handle: ReturnType<typeof setTimeout>

  constructor(delayMs: number, run: () => void) {
    this.#handle = setTimeout(run, Math.max(0, delayMs))
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }
}
