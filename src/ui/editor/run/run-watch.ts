import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import type { Document } from '../document/document.ts'
import { pastRun } from './past-run.ts'
import { eventsAddress, readEvents } from './read-events.ts'
import type { RememberedRun } from './remembered-runs.ts'
import type { RunEvent } from './run-event.ts'
import { fold, idle, lost, type RunState, triedOn } from './run-state.ts'

/** The kinds of run that triggers start. */
export type RunTrigger =
  | 'api'
  | 'webhook'
  | 'schedule'
  | 'manual'
  | 'chat'
  | 'form'
  | 'poll'
  | 'rss'
  | 'event'
  | 'email'

/** The request body of a manual run. */
export type RunRequest = {
  trigger?: RunTrigger
  input?: unknown
  /** The token of a listener whose test request is the input. */
  listened?: string
  from?: { executionId: string; blockId: string; iterations?: number[] }
  until?: string
  only?: { blockId: string; executionId?: string; iterations?: number[]; values?: Record<string, unknown> }
}

/** Starts runs of a draft and follows them. The canvas and the console render its state. */
export class RunWatch {
  readonly #workflowId: string
  #state: RunState = idle
  #reading: AbortController | undefined
  /** The drafts of the latest runs that were started here. */
  readonly #documents = new Map<string, Document>()
  readonly #watchers = new Set<() => void>()
  #isReported = false

  constructor(workflowId: string) {
    this.#workflowId = workflowId
  }

  /** A previous run, for a read-only canvas. */
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

  /** The draft that a run used, if the run was started here. */
  documentOf(executionId: string): Document | undefined {
    return this.#documents.get(executionId)
  }

  /**
   * Runs the saved draft. Rejects when the run cannot start, and then keeps the state of the previous run. The outcome
   * of a started run is in the state.
   */
  async start(request: RunRequest, document: Document, onStarted?: () => void): Promise<void> {
    this.#reading?.abort()
    const reading = new AbortController()
    this.#reading = reading
    const before = this.#state
    this.#become({ ...before, phase: 'starting', output: undefined, error: undefined })
    try {
      const { executionId } = await call('POST /api/editor/workflows/:id/runs', {
        params: { id: this.#workflowId },
        body: request,
        signal: reading.signal,
      })
      this.#documents.set(executionId, document)
      const [oldest] = this.#documents.keys()
      if (this.#documents.size > documentsMax && oldest !== undefined) this.#documents.delete(oldest)
      this.#become({
        ...{ ...idle, phase: 'running', executionId, startedAt: Date.now() },
        ...(request.only ? triedOn(before) : { wholeId: executionId }),
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
   * Shows an earlier run, and follows it if it is still running, unless another run was started in the meantime.
   * Returns false when the service no longer knows the run, or when it is a run of another workflow. Other errors
   * before the first event are ignored.
   */
  async resume({ executionId, wholeId }: RememberedRun): Promise<boolean> {
    if (this.#reading || this.#state.phase !== 'idle') return true
    const reading = new AbortController()
    this.#reading = reading
    try {
      const before = wholeId === undefined || wholeId === executionId ? undefined : await ended(wholeId, reading.signal)
      if (reading.signal.aborted) return true
      const start = { ...idle, ...(before && triedOn(before)), executionId, wholeId, isPast: true }
      await this.#follow(start, reading.signal)
    } catch (error) {
      if (reading.signal.aborted) return true
      if (this.isRunning) this.#lose(error)
      return !(error instanceof ApiError && error.status === 404)
    }
    return true
  }

  /** Requests cancellation. The outcome arrives as an event. */
  async cancel(): Promise<void> {
    const { executionId } = this.#state
    if (!executionId || !this.isRunning) return
    await call('POST /api/workflows/:id/executions/:executionId/cancel', {
      params: { id: this.#workflowId, executionId },
    })
  }

  /** Stops following the run but keeps its state, so that returning to the editor shows it again. */
  leave(): void {
    this.#reading?.abort()
  }

  /** Forgets the run. It continues on the service. */
  clear(): void {
    this.#reading?.abort()
    this.#become(idle)
  }

  /**
   * All events of an ended run arrive together and are shown together, so that it never looks as if it were still
   * running.
   */
  async #follow(from: RunState, signal: AbortSignal): Promise<void> {
    let state = from
    for await (const read of readEvents(eventsAddress(from.executionId ?? ''), signal)) {
      if (signal.aborted) return
      const event = read as RunEvent
      if (event.event === 'run.started' && event.workflowId !== this.#workflowId) {
        throw new ApiError(404, 'NOT_FOUND', 'This is a run of another workflow.')
      }
      state = fold(state, event)
      if (state.isPast && isOfRunInFlight(event)) state = { ...state, isPast: false }
      if (!state.isPast || state.phase !== 'running') this.#become(state)
    }
    if (!signal.aborted && state.phase === 'running') throw new ApiError(0, 'UNREACHABLE', lostText)
  }

  /** The run may continue, but its outcome is unknown. Another run can be started. */
  #lose(error: unknown): void {
    const code = error instanceof ApiError ? error.code : 'UNREACHABLE'
    const message = error instanceof ApiError ? error.message : lostText
    this.#become(lost(this.#state, { message, code }))
  }

  /** Notifies watchers at most once per frame. */
  #become(state: RunState): void {
    this.#state = state
    if (this.#isReported) return
    this.#isReported = true
    requestAnimationFrame(() => {
      this.#isReported = false
      for (const watcher of [...this.#watchers]) watcher()
    })
  }
}

/** A run that has ended; undefined when the service no longer knows it, or when it is still running. */
async function ended(executionId: string, signal: AbortSignal): Promise<RunState | undefined> {
  try {
    return await pastRun(executionId, signal)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

const documentsMax = 20

const lostText = 'The connection was lost, so this run can no longer be followed. Look for its result in the logs.'

/** When a run has ended, all its blocks have ended too. */
function isOfRunInFlight({ event }: RunEvent): boolean {
  return event === 'block.started' || event === 'block.chunk'
}
