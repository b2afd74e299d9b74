import type { RunRecord } from '../domain/log.ts'
import type { RunObserver } from '../domain/run-observer.ts'
import { roughBytes } from './rough-bytes.ts'
import type { RunEnd, RunRequest } from './runner.ts'

export type ManualRunsOptions = {
  runner: {
    execute(request: RunRequest): Promise<RunEnd>
    assertFree(): void
  }
  /** The observer for a run that is about to start. */
  observe(run: { executionId: string; workspaceId: string }): RunObserver
  /** Memory for runs that have ended. */
  bytesMax: number
  /** Told of a run whose log entry could not be written. */
  onLost(executionId: string, error: unknown): void
}

/**
 * Runs by hand: nobody waits for them, everybody may watch. What the latest of them gave is remembered as it was, while
 * the log hides secrets in it and cuts what is long; so they can be run again from any block.
 */
export class ManualRuns {
  readonly #options: ManualRunsOptions
  /** The latest last. */
  readonly #ended = new Map<string, { record: RunRecord; bytes: number }>()
  #bytes = 0

  constructor(options: ManualRunsOptions) {
    this.#options = options
  }

  /** Throws OVERLOADED when there is no free slot. */
  start(request: RunRequest & { executionId: string }): void {
    const { runner, observe, onLost } = this.#options
    const { executionId } = request
    runner.assertFree()
    const observer = observe({ executionId, workspaceId: request.workspaceId })
    runner.execute({ ...request, observer }).then(
      ({ record }) => this.#keep(record),
      (error: unknown) => {
        observer.lost?.(error)
        onLost(executionId, error)
      },
    )
  }

  /** A run that ended not long ago, with all that its blocks gave. */
  find(executionId: string): RunRecord | undefined {
    return this.#ended.get(executionId)?.record
  }

  #keep(record: RunRecord): void {
    const { bytesMax } = this.#options
    const bytes = roughBytes(record.root)
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
