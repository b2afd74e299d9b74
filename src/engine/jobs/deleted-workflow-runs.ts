import type { Clock, Timer } from '../../domain/clock.ts'
import type { ListedPause, PausePage } from '../../domain/run/pause.ts'

export type DeletedWorkflowRunsOptions = {
  store: {
    listPauses(page: PausePage): Promise<Pick<ListedPause, 'executionId' | 'number'>[]>
    /** Deleted workflows that still have open pauses, at most `limit`. */
    listDeletedWithPauses(limit: number): Promise<WorkflowAddress[]>
  }
  clock: Pick<Clock, 'setTimer'>
  /** Cancels a run. */
  cancel(executionId: string): Promise<unknown>
  onFailure(cause: unknown): void
}

type WorkflowAddress = { workspaceId: string; workflowId: string }

/**
 * Cancels the paused runs of deleted workflows. It looks for them when the service starts, because the service may have
 * stopped while it was cancelling. It also looks every hour, because a run in progress may pause after the deletion.
 */
export class DeletedWorkflowRuns {
  readonly #options: DeletedWorkflowRunsOptions
  #timer: Timer | undefined
  #working: Promise<void> | undefined
  #isAskedAgain = false
  #stopped = false

  constructor(options: DeletedWorkflowRunsOptions) {
    this.#options = options
  }

  /** Call this at start, and when a workflow has been deleted. Returns at once. */
  look(): void {
    this.#isAskedAgain = true
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  async close(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#working
  }

  async #work(): Promise<void> {
    this.#timer?.cancel()
    try {
      while (this.#isAskedAgain && !this.#stopped) {
        this.#isAskedAgain = false
        for (const workflow of await this.#options.store.listDeletedWithPauses(workflowsMax))
          await this.#cancel(workflow)
      }
    } catch (cause) {
      this.#options.onFailure(cause)
    }
    if (!this.#stopped) this.#timer = this.#options.clock.setTimer(lookMs, () => this.look())
  }

  async #cancel(workflow: WorkflowAddress): Promise<void> {
    const { store, cancel } = this.#options
    let after = 0
    while (!this.#stopped) {
      const page = await store.listPauses({ ...workflow, after, limit: atOnce })
      // Cancelled together, these runs share a transaction.
      await Promise.all([...new Set(page.map(({ executionId }) => executionId))].map(cancel))
      if (page.length < atOnce) return
      after = page.at(-1)?.number ?? 0
    }
  }
}

/** How many runs are cancelled together: few, so that other writes do not wait for long. */
const atOnce = 100
/** How many workflows one round handles. The round of the next hour continues. */
const workflowsMax = 1_000
const lookMs = 3_600_000
