import { estimateSize } from '../../domain/estimate-size.ts'
import type { RunRecord } from '../../domain/run/log.ts'
import { observers, type RunObserver } from '../../domain/run/run-observer.ts'
import type { RunEnd } from '../run/run-end.ts'
import type { RunRequest } from '../run/run-request.ts'

export type ManualRunsOptions = {
  runner: {
    execute(request: RunRequest): Promise<RunEnd>
    assertFree(workspaceId: string): void
  }
  /** Creates the observer of a run that is about to start. */
  observe(run: { executionId: string; workspaceId: string }): RunObserver
  /** Memory for ended runs. */
  bytesMax: number
  /** Called for a run whose log entry could not be written. */
  onLost(executionId: string, error: unknown): void
}

/**
 * Manual runs: no caller waits for them, and everyone with access may watch them. The latest ones stay in memory
 * unchanged, so that they can be run again from any block: the log hides secrets and shortens long values.
 */
export class ManualRuns {
  readonly #options: ManualRunsOptions
  /** In the order in which they ended. */
  readonly #ended = new Map<string, { record: RunRecord; bytes: number }>()
  #bytes = 0

  constructor(options: ManualRunsOptions) {
    this.#options = options
  }

  /**
   * Throws OVERLOADED when there is no free slot. Resolves when the run has ended, with nothing when it could not be
   * recorded; never rejects.
   */
  start(request: RunRequest & { executionId: string }): { ending: Promise<RunEnd | undefined> } {
    const { runner, observe, onLost } = this.#options
    const { executionId, workspaceId } = request
    runner.assertFree(workspaceId)
    const own = observe({ executionId, workspaceId })
    const observer = request.observer ? observers(own, request.observer) : own
    const ending = runner.execute({ ...request, observer }).then(
      (end) => {
        this.#remember(end.record)
        return end
      },
      (error: unknown) => {
        observer.lost?.(error)
        onLost(executionId, error)
        return undefined
      },
    )
    return { ending }
  }

  /** A run that ended recently, with the unchanged outputs of its blocks. */
  find(executionId: string): RunRecord | undefined {
    return this.#ended.get(executionId)?.record
  }

  #remember(record: RunRecord): void {
    const { bytesMax } = this.#options
    const bytes = estimateSize(record.root)
    if (bytes > bytesMax) return
    this.#ended.set(record.executionId, { record, bytes })
    this.#bytes += bytes
    for (const [executionId, oldest] of this.#ended) {
      if (this.#bytes <= bytesMax) break
      this.#ended.delete(executionId)
      this.#bytes -= oldest.bytes
    }
  }
}
