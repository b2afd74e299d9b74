/**
 * A tree of stops: the run's own, one for each iteration and each sub-run below it. Stopping one stops all below it and
 * nothing beside it. The AbortSignal is made when a block first asks for it: most runs never need one.
 */
export class Halt {
  #controller: AbortController | undefined
  #below: Set<Halt> | undefined
  #reason: unknown

  /** Whether it was stopped. */
  get stopped(): boolean {
    return this.#reason !== undefined
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** A stop below this one. `release` it when its work is over. */
  below(): Halt {
    const halt = new Halt()
    if (this.#reason !== undefined) halt.stop(this.#reason)
    else {
      this.#below ??= new Set()
      this.#below.add(halt)
    }
    return halt
  }

  release(halt: Halt): void {
    this.#below?.delete(halt)
  }

  /** Only the first reason counts. */
  stop(reason: unknown): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    for (const halt of this.#below ?? []) halt.stop(reason)
  }
}
