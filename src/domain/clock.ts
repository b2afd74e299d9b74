/** Time as a parameter: the process's own clock in production, one moved by hand in tests. */
export type Clock = {
  /** Epoch milliseconds, UTC. */
  now(): number
  /** A monotonic reading in milliseconds with fractions; only differences mean anything. */
  monotonic(): number
  /** Calls `run` once after `delayMs`; `cancel` before that prevents it. */
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

/** The longest delay one `setTimeout` can hold; longer timers are made of several. */
const timeoutMsMax = 2_147_483_647

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  setTimer(delayMs, run) {
    let handle: ReturnType<typeof setTimeout>
    const arm = (leftMs: number) => {
      handle =
        leftMs > timeoutMsMax ? setTimeout(() => arm(leftMs - timeoutMsMax), timeoutMsMax) : setTimeout(run, leftMs)
    }
    arm(Math.max(0, delayMs))
    return { cancel: () => clearTimeout(handle) }
  },
}
