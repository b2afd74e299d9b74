/** Promises that nobody awaits. They are counted, must not reject, and a stop waits for them. */
export class Background {
  #count = 0
  #onIdle: (() => void) | undefined

  get isIdle(): boolean {
    return this.#count === 0
  }

  own(promise: Promise<void>): void {
    this.#count += 1
    promise.then(this.#ended)
  }

  /** Resolves when all of them have ended, including those that are added meanwhile. */
  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve
      if (this.isIdle) resolve()
    })
  }

  readonly #ended = (): void => {
    this.#count -= 1
    if (this.isIdle) this.#onIdle?.()
  }
}
