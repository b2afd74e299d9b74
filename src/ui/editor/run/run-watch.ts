import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { readEvents } from './read-events.ts'
import type { RunEvent } from './run-event.ts'
import { fold, idle, type RunState } from './run-state.ts'

/** The kinds of run that a trigger starts. */
export type RunTrigger = 'api' | 'webhook' | 'schedule' | 'manual' | 'chat'

/** What a run by hand is to be. */
export type RunRequest = {
  trigger?: RunTrigger
  input?: unknown
  from?: { executionId: string; blockId: string; iterations?: number[] }
  until?: string
  only?: { blockId: string; executionId?: string }
}

/** Starts runs of a draft and watches them; the canvas and the console draw what it knows. */
export class RunWatch {
  readonly #workflowId: string
  #state: RunState = idle
  #reading: AbortController | undefined
  readonly #watchers = new Set<() => void>()
  #told = false

  constructor(workflowId: string) {
    this.#workflowId = workflowId
  }

  /** A run of the past, as far as a canvas shows it. */
  static ended(workflowId: string, blocks: RunState['blocks']): RunWatch {
    const watch = new RunWatch(workflowId)
    watch.#state = { ...idle, phase: 'success', blocks }
    return watch
  }

  readonly state = (): RunState => this.#state

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  get isRunning(): boolean {
    return this.#state.phase === 'starting' || this.#state.phase === 'running'
  }

  /**
   * Runs the draft as it is saved. Rejects when it cannot start, and what was known of the run before stays; how it ends is
   * in the state.
   */
  async start(request: RunRequest, onStarted?: () => void): Promise<void> {
    this.#reading?.abort()
    const reading = new AbortController()
    this.#reading = reading
    const before = this.#state
    const { wholeId } = before
    this.#become({ ...before, phase: 'starting', output: undefined, error: undefined })
    try {
      const { executionId } = await call('POST /api/editor/workflows/:id/runs', {
        params: { id: this.#workflowId },
        body: request,
        signal: reading.signal,
      })
      this.#become({
        ...{ ...idle, phase: 'running', executionId, startedAt: Date.now() },
        wholeId: request.only ? wholeId : executionId,
      })
      onStarted?.()
      await this.#follow(executionId, reading.signal)
    } catch (error) {
      if (reading.signal.aborted) return
      if (this.#state.phase === 'starting') this.#become(before)
      throw error
    }
  }

  /** Asks the run to stop; how it ends is told like everything else of it. */
  async cancel(): Promise<void> {
    const { executionId } = this.#state
    if (!executionId || !this.isRunning) return
    await call('POST /api/workflows/:id/executions/:executionId/cancel', {
      params: { id: this.#workflowId, executionId },
    })
  }

  /** Forgets the run that was watched; it goes on. */
  clear(): void {
    this.#reading?.abort()
    this.#become(idle)
  }

  async #follow(executionId: string, signal: AbortSignal): Promise<void> {
    for await (const event of readEvents(`/api/editor/runs/${encodeURIComponent(executionId)}/events`, signal)) {
      this.#become(fold(this.#state, event as RunEvent))
    }
    if (!signal.aborted && this.isRunning) {
      throw new ApiError(0, 'UNREACHABLE', 'The run cannot be watched any more: the connection was lost. It goes on.')
    }
  }

  /** Watchers are told once a frame, however many events come. */
  #become(state: RunState): void {
    this.#state = state
    if (this.#told) return
    this.#told = true
    requestAnimationFrame(() => {
      this.#told = false
      for (const watcher of [...this.#watchers]) watcher()
    })
  }
}
