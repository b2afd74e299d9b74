/** One execution of a block in a run. */
export type Pass = { executionId: string; spanId: string; iterations: readonly number[] }

export type FocusState = {
  /** The pass that was chosen last, in the console or by a failing run. */
  readonly pass: Pass | undefined
  /** The earlier run whose values are shown beside the fields; undefined for the latest run. */
  readonly source: string | undefined
}

/** The pass and the run that the user looks at. The selected block is part of the draft. */
export class RunFocus {
  #state: FocusState = { pass: undefined, source: undefined }
  readonly #watchers = new Set<() => void>()

  readonly state = (): FocusState => this.#state

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  choosePass(pass: Pass | undefined): void {
    this.#become({ ...this.#state, pass })
  }

  /** `source`: undefined for the latest run. */
  chooseSource(source: string | undefined): void {
    this.#become({ pass: undefined, source })
  }

  #become(state: FocusState): void {
    this.#state = state
    for (const watcher of [...this.#watchers]) watcher()
  }
}
