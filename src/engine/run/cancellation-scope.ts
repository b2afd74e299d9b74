/**
 * A tree of cancellations: the run's own, and below it one for each iteration and each sub-run. Cancelling one cancels
 * all below it and no other. The AbortSignal is created when a block first asks for it: most runs need none.
 */
export class CancellationScope {
  #controller: AbortController | undefined
  #children: Set<CancellationScope> | undefined
  #reason: unknown

  get isCancelled(): boolean {
    return this.#reason !== undefined
  }

  /** Why the scope was cancelled; undefined before that. `signal` aborts with the same value. */
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

  /** A scope below this one. `release` it when its work has ended. */
  child(): CancellationScope {
    const child = new CancellationScope()
    if (this.#reason !== undefined) child.cancel(this.#reason)
    else {
      this.#children ??= new Set()
      this.#children.add(child)
    }
    return child
  }

  release(child: CancellationScope): void {
    this.#children?.delete(child)
  }

  /** Only the first reason counts. */
  cancel(reason: unknown): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller?.abort(reason)
    for (const child of this.#children ?? []) child.cancel(reason)
  }
}
