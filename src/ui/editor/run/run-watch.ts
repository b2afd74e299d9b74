import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { readEvents } from './read-events.ts'
import type { RememberedRun } from './remembered-runs.ts'
import type { RunEvent } from './run-event.ts'
import { fold, idle, lost, type RunState } from './run-state.ts'

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
      await this.#follow(this.#state, reading.signal)
    } catch (error) {
      if (reading.signal.aborted) return
      if (this.#state.phase === 'starting') this.#become(before)
      if (!this.isRunning) throw error
      this.#lose(error)
    }
  }

  /**
   * Shows an earlier run again, unless one has been started meanwhile, and goes on watching it if it has not ended. False
   * when the service knows it no more; what else goes wrong before there is something to show is not told.
   */
  async resume({ executionId, wholeId }: RememberedRun): Promise<boolean> {
    if (this.#reading || this.#state.phase !== 'idle') return true
    const reading = new AbortController()
    this.#reading = reading
    try {
      await this.#follow({ ...idle, executionId, wholeId, isPast: true }, reading.signal)
    } catch (error) {
      if (reading.signal.aborted) return true
      if (this.isRunning) this.#lose(error)
      return !(error instanceof ApiError && error.status === 404)
    }
    return true
  }

  /** Asks the run to stop; how it ends is told like everything else of it. */
  async cancel(): Promise<void> {
    const { executionId } = this.#state
    if (!executionId || !this.isRunning) return
    await call('POST /api/workflows/:id/executions/:executionId/cancel', {
      params: { id: this.#workflowId, executionId },
    })
  }

  /** Watches no longer, and forgets nothing: whoever comes back is shown the run again. */
  leave(): void {
    this.#reading?.abort()
  }

  /** Forgets the run that was watched; it goes on. */
  clear(): void {
    this.#reading?.abort()
    this.#become(idle)
  }

  /** Of a run that has ended everything comes at once, and is shown at once: it never looks as if it went on. */
  async #follow(from: RunState, signal: AbortSignal): Promise<void> {
    let state = from
    const address = `/api/editor/runs/${encodeURIComponent(from.executionId ?? '')}/events`
    for await (const event of readEvents(address, signal)) {
      if (signal.aborted) return
      state = fold(state, event as RunEvent)
      if (state.isPast && isOfRunInFlight(event as RunEvent)) state = { ...state, isPast: false }
      if (!state.isPast || state.phase !== 'running') this.#become(state)
    }
    if (!signal.aborted && state.phase === 'running') throw new ApiError(0, 'UNREACHABLE', lostText)
  }

  /** It may go on, but nobody can tell how; another one can be started. */
  #lose(error: unknown): void {
    const code = error instanceof ApiError ? error.code : 'UNREACHABLE'
    const message = error instanceof ApiError ? error.message : lostText
    this.#become(lost(this.#state, { message, code }))
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

const lostText = 'The connection was lost, so this run can no longer be followed. Look for its result in the logs.'

/** When a run has ended, all its blocks have, too. */
function isOfRunInFlight({ event }: RunEvent): boolean {
  return event === 'block.started' || event === 'block.chunk'
}
