/**
 * Reads the usage of an account between two groups of runs: after all that were handed over before, and before all that
 * follow. So the sum, together with what this process counts afterwards, omits no run and counts none twice.
 */
export class UsageTurns {
  readonly #appends = new Set<Promise<unknown>>()
  #reading: Promise<unknown> | undefined

  async append<Result>(run: () => Promise<Result>): Promise<Result> {
    // Nearly always there is none, and the hot path does not wait.
    while (this.#reading) await this.#reading
    const appending = run()
    const settled = appending.catch(() => undefined).finally(() => this.#appends.delete(settled))
    this.#appends.add(settled)
    return await appending
  }

  async read<Result>(run: () => Promise<Result>): Promise<Result> {
    const previous = this.#reading
    const before = [...this.#appends]
    const reading = (async () => {
      await previous
      await Promise.all(before)
      return await run()
    })()
    const settled = reading.then(
      () => undefined,
      () => undefined,
    )
    this.#reading = settled
    try {
      return await reading
    } finally {
      if (this.#reading === settled) this.#reading = undefined
    }
  }
}
