/**
 * Makes a thread that searches for milliseconds rest now and then. Its low priority decides who is next, not at once who has
 * to stop: a run whose thread wakes on the processor that it is working on may wait for longer than the run takes. A thread
 * that sleeps has left its processor.
 *
 * Work begins with `begin`, and calls `breathe` between two pieces of it.
 */
export class Breather {
  readonly #monotonic: () => number
  readonly #sleep: (ms: number) => void
  #workingSince = 0

  constructor(monotonic: () => number = () => performance.now(), sleep = newSleep()) {
    this.#monotonic = monotonic
    this.#sleep = sleep
  }

  /** After a time in which it had nothing to do, however long that was: short work is not held up at all. */
  begin(): void {
    this.#workingSince = this.#monotonic()
  }

  breathe(): void {
    if (this.#monotonic() - this.#workingSince < workMs) return
    this.#sleep(restMs)
    this.#workingSince = this.#monotonic()
  }
}

/** What a run that wakes meanwhile waits at most, on top of a piece of work. */
export const workMs = 0.4
/** As short as sleeping is: the system adds to it. */
export const restMs = 0.1

/** The thread stands still: what it does is synchronous. */
function newSleep(): (ms: number) => void {
  const nobodyWakes = new Int32Array(new SharedArrayBuffer(4))
  return (ms) => void Atomics.wait(nobodyWakes, 0, 0, ms)
}
