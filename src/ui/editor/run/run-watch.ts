import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/call.ts'
import { readEvents } from './read-events.ts'
import type { RunEvent, RunSpan } from './run-event.ts'

export type RunPhase = 'idle' | 'starting' | 'running' | 'success' | 'error' | 'cancelled'

/** How a block stands in the run that is watched; of one in a loop, its latest pass. */
export type BlockRun = {
  status: RunSpan['status'] | 'running'
  /** How often it has run. */
  passes: number
  duration: number | undefined
  reused: boolean
}

/** One line of the console: a block's pass. */
export type RunEntry = {
  spanId: string
  blockId: string
  name: string
  type: string
  iterations: readonly number[]
  depth: number
  startTime: string
  status: BlockRun['status']
  /** What it has streamed so far. */
  text: string
  span: RunSpan | undefined
}

export type RunState = {
  readonly phase: RunPhase
  readonly executionId: string | undefined
  /** The latest run that was not of one block alone: what parts of the workflow go on from. */
  readonly wholeId: string | undefined
  readonly startedAt: number | undefined
  readonly duration: number | undefined
  readonly blocks: ReadonlyMap<string, BlockRun>
  readonly entries: readonly RunEntry[]
  readonly output: unknown
  readonly error: { message: string; code: string; blockId: string | null } | undefined
  readonly cost: number
}

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

const idle: RunState = {
  phase: 'idle',
  executionId: undefined,
  wholeId: undefined,
  startedAt: undefined,
  duration: undefined,
  blocks: new Map(),
  entries: [],
  output: undefined,
  error: undefined,
  cost: 0,
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

/** The state after an event. */
export function fold(state: RunState, event: RunEvent): RunState {
  switch (event.event) {
    case 'run.started':
      return { ...state, phase: 'running', startedAt: Date.parse(event.startedAt) }
    case 'block.started': {
      const { id, blockId, name, type, startTime } = event.span
      const entry: RunEntry = {
        ...{ spanId: id, blockId, name, type, startTime, iterations: event.iterations, depth: event.depth },
        ...{ status: 'running', text: '', span: undefined },
      }
      return { ...state, entries: put(state.entries, entry), blocks: ran(state, event, 'running') }
    }
    case 'block.chunk': {
      const entry = state.entries.findLast(({ spanId }) => spanId === event.spanId)
      if (!entry) return state
      return { ...state, entries: put(state.entries, { ...entry, text: entry.text + event.chunk }) }
    }
    case 'block.ended': {
      const { span, iterations, depth } = event
      const before = state.entries.findLast(({ spanId }) => spanId === span.id)
      const entry: RunEntry = {
        ...{ spanId: span.id, blockId: span.blockId, name: span.name, type: span.type, iterations, depth },
        ...{ startTime: span.startTime, status: span.status, text: before?.text ?? '', span },
      }
      return { ...state, entries: put(state.entries, entry), blocks: ran(state, event, span.status) }
    }
    case 'run.ended': {
      const { status, duration, output, error, cost } = event
      return { ...state, phase: status, duration, output, error: error ?? undefined, cost: cost.total }
    }
    case 'run.lost':
      return { ...state, phase: 'error', error: { message: event.message, code: 'LOST', blockId: null } }
    case 'dropped':
      return { ...state, phase: 'error', error: { message: event.message, code: 'DROPPED', blockId: null } }
  }
}

/** Entries kept at most: the oldest of a long loop go. */
const entriesMax = 2_000

function put(entries: readonly RunEntry[], entry: RunEntry): readonly RunEntry[] {
  const at = entries.findLastIndex(({ spanId }) => spanId === entry.spanId)
  if (at !== -1) return entries.with(at, entry)
  // In the order of their beginning: a container is told of when it is known that there is something in it.
  let place = entries.length
  while (place > 0 && isLater(entries[place - 1]!, entry)) place -= 1
  return entries.toSpliced(place, 0, entry).slice(-entriesMax)
}

function isLater(a: RunEntry, b: RunEntry): boolean {
  if (a.startTime !== b.startTime) return a.startTime > b.startTime
  return a.iterations.length + a.depth > b.iterations.length + b.depth
}

type BlockEvent = Extract<RunEvent, { event: 'block.started' | 'block.ended' }>

/** What the cards show. Blocks of sub-workflows have none here. */
function ran(state: RunState, event: BlockEvent, status: BlockRun['status']): RunState['blocks'] {
  if (event.depth > 0) return state.blocks
  const { span } = event
  const before = state.blocks.get(span.blockId)
  const isNew = !state.entries.some(({ spanId }) => spanId === span.id)
  const block: BlockRun = {
    status,
    passes: (before?.passes ?? 0) + (isNew ? 1 : 0),
    duration: 'duration' in span ? span.duration : undefined,
    reused: 'reused' in span && span.reused === true,
  }
  return new Map(state.blocks).set(span.blockId, block)
}
