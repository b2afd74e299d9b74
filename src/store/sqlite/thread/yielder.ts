/**
 * Makes a thread that searches for milliseconds sleep now and then. Its low priority only decides which thread runs
 * next, so a run whose thread wakes up on the same processor could wait longer than the run itself takes. A sleeping
 * thread leaves its processor at once.
 *
 * Call `begin` when work begins, and `yieldIfDue` between two pieces of it.
 */
export class Yielder {
  readonly #monotonic: () => number
  readonly #sleep: (ms: number) => void
  #workingSince = 0

  constructor(monotonic: () => number = () => performance.now(), sleep = newSleep()) {
    this.#monotonic = monotonic
    this.#sleep = sleep
  }

  /** Short work never sleeps. */
  begin(): void {
    this.#workingSince = this.#monotonic()
  }

  yieldIfDue(): void {
    if (this.#monotonic() - this.#workingSince < workMs) return
    this.#sleep(restMs)
    this.#workingSince = this.#monotonic()
  }
}

/** The maximum delay of a run that wakes up meanwhile, in addition to one piece of work. */
export const workMs = 0.4
/** The shortest sleep: the operating system adds to it. */
export const restMs = 0.1

/** Blocks the thread, because its work is synchronous. */
function newSleep(): (ms: number) => void {
  const neverNotified = new Int32Array(new SharedArrayBuffer(4))
  return (ms) => void Atomics.wait(neverNotified, 0, 0, ms)
}
