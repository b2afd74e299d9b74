import type { AlertRule, EventType } from './alert.ts'
import {
  type AlertBatch,
  type AlertEvaluation,
  type EndedRun,
  type EventChain,
  type Firing,
  type FiringContent,
  linkOf,
  type StoredEvent,
  type Watcher,
  type WatcherState,
} from './evaluation.ts'
import { countsTogether, type Measured, observe } from './rule-state.ts'

/**
 * Decides what fires, from a batch alone. A watcher fires once, and then stays quiet for a while; what happens in that
 * time is only counted.
 */
export function evaluate(batch: AlertBatch, now: number, newExecutionId: () => string): AlertEvaluation {
  return new Evaluation(batch, now, newExecutionId).result()
}

/** Something that happened, and that a watcher may fire for. */
type Happening = Pick<FiringContent, 'type' | 'workflowId' | 'workflowName' | 'executionId' | 'error'>

class Evaluation {
  readonly #batch: AlertBatch
  readonly #now: number
  readonly #newExecutionId: () => string
  readonly #states = new Map<string, WatcherState>()
  readonly #changed = new Set<string>()
  /** The quiet times and counts as they are at this point of the evaluation. */
  readonly #watchers: Map<number, Pick<Watcher, 'number' | 'quietUntil' | 'suppressed'>>
  readonly #touched = new Set<number>()
  readonly #firings: Firing[] = []

  constructor(batch: AlertBatch, now: number, newExecutionId: () => string) {
    this.#batch = batch
    this.#now = now
    this.#newExecutionId = newExecutionId
    for (const state of batch.states) this.#states.set(keyOf(state.watcher, state.workflowId), state)
    this.#watchers = new Map(
      batch.watchers.map(({ number, quietUntil, suppressed }) => [number, { number, quietUntil, suppressed }]),
    )
  }

  result(): AlertEvaluation {
    const { workspaceId, revision, runs, events, position, chains, hasMore } = this.#batch
    for (const run of runs) for (const watcher of this.#batch.watchers) this.#seeRun(watcher, run)
    for (const event of events) for (const watcher of this.#batch.watchers) this.#seeEvent(watcher, event)
    // While the log has more to read, a run may be in it.
    if (!hasMore) for (const watcher of this.#batch.watchers) this.#lookForSilence(watcher)
    return {
      ...{ workspaceId, revision, position },
      events: events.map(({ number }) => number),
      states: [...this.#changed].map((key) => {
        const { workflowName: _, ...state } = this.#states.get(key)!
        return state
      }),
      watchers: [...this.#touched].map((number) => this.#watchers.get(number)!),
      firings: this.#firings,
      endedChains: runs.flatMap(({ executionId }) => (chains.has(executionId) ? [executionId] : [])),
    }
  }

  #seeRun(watcher: Watcher, run: EndedRun): void {
    if (!watches(watcher, run.workflowId) || run.endedAt < watcher.since) return
    const type = typeOf(run)
    if (watcher.rule) this.#observe(watcher, watcher.rule, run)
    else if (type !== undefined && watcher.events.includes(type)) this.#happens(watcher, { ...factsOf(run), type })
  }

  #observe(watcher: Watcher, rule: AlertRule, run: EndedRun): void {
    const together = countsTogether(rule, watcher.watchesAll)
    const state = this.#stateOf(watcher, together ? null : run)
    if (rule.type === 'no_activity') {
      const dueAt = Math.max(state.dueAt ?? 0, run.endedAt + rule.windowMs)
      this.#keep({ ...state, dueAt })
      return
    }
    const observed = observe(rule, state.state, run)
    this.#keep({ ...state, state: observed.state })
    if (observed.isMet)
      this.#happens(watcher, { ...factsOf(run), type: typeOf(run) ?? 'run.failed' }, observed.measured)
  }

  #seeEvent(watcher: Watcher, event: StoredEvent): void {
    const { type, workflowId, workflowName, executionId, detail, at } = event
    if (watcher.rule || !watcher.events.includes(type) || at < watcher.since) return
    // An event without a workflow reaches every watcher of its type.
    if (workflowId !== null && !watches(watcher, workflowId)) return
    // A refused start has no run that people could look at.
    const shown = type === 'limit.reached' ? null : executionId
    this.#happens(watcher, { type, workflowId, workflowName, executionId: shown, error: detail }, null, executionId)
  }

  #lookForSilence(watcher: Watcher): void {
    const { rule } = watcher
    if (rule?.type !== 'no_activity') return
    const due = [...this.#states].flatMap(([key, state]) => {
      const { dueAt } = state
      return state.watcher !== watcher.number || dueAt === null || dueAt > this.#now ? [] : [{ key, state, dueAt }]
    })
    due.sort((one, other) => one.dueAt - other.dueAt)
    for (const [place, { key, state }] of due.entries()) {
      const { workflowId, workflowName } = state
      const firings = this.#firings.length
      this.#happens(watcher, { type: 'no_activity', workflowId, workflowName, executionId: null, error: null })
      const isTold = this.#firings.length > firings
      // It fires again after the quiet time if no run has ended. Without a quiet time, it fires after another window.
      const until = this.#watchers.get(watcher.number)!.quietUntil ?? 0
      const next = until > this.#now ? until : this.#now + rule.windowMs
      // A message names one workflow. The next message names the workflow that has waited longest.
      this.#states.set(key, { ...state, dueAt: next + (isTold ? due.length : place) })
      this.#changed.add(key)
    }
  }

  /** `cause`: the run, or refused start, that an event may have caused. */
  #happens(
    watcher: Watcher,
    happening: Happening,
    measured: Measured | null = null,
    cause: string | null = happening.executionId,
  ): void {
    const { workflowId, type } = happening
    const chain = (cause === null ? undefined : this.#batch.chains.get(cause)) ?? []
    if (watcher.starts !== null && workflowId !== null && type !== 'no_activity') {
      // Without this, two workflows that start each other would never stop.
      if (chain.includes(linkOf(type, workflowId)) || chain.length >= chainMax) return
    }
    const known = this.#watchers.get(watcher.number)!
    this.#touched.add(watcher.number)
    if (known.quietUntil !== null && known.quietUntil > this.#now) {
      this.#watchers.set(watcher.number, { ...known, suppressed: known.suppressed + 1 })
      return
    }
    this.#watchers.set(watcher.number, { ...known, quietUntil: this.#now + watcher.quietMs, suppressed: 0 })
    this.#firings.push(this.#firing(watcher, happening, measured, known.suppressed, chain))
  }

  #firing(
    watcher: Watcher,
    happening: Happening,
    measured: Measured | null,
    suppressed: number,
    chain: EventChain,
  ): Firing {
    const { number, id, name, starts, rule } = watcher
    const content: FiringContent = {
      alert: { id, name },
      ...happening,
      ...{ rule, measured, suppressed, at: new Date(this.#now).toISOString() },
    }
    const firing: Firing = { sequence: 0, watcher: number, at: this.#now, content }
    if (starts === null) return firing
    const { type, workflowId } = happening
    const links =
      type === 'no_activity' ? [] : [...(workflowId === null ? [] : [linkOf(type, workflowId)]), linkOf(type, starts)]
    const start = { workflowId: starts, executionId: this.#newExecutionId(), chain: [...new Set([...chain, ...links])] }
    return { ...firing, start }
  }

  #stateOf({ number }: Watcher, run: Pick<EndedRun, 'workflowId' | 'workflowName'> | null): WatcherState {
    const [workflowId, workflowName] = run ? [run.workflowId, run.workflowName] : [null, null]
    const known = this.#states.get(keyOf(number, workflowId))
    return known ?? { watcher: number, workflowId, workflowName, state: {}, dueAt: null }
  }

  #keep(state: WatcherState): void {
    const key = keyOf(state.watcher, state.workflowId)
    this.#states.set(key, state)
    this.#changed.add(key)
  }
}

const keyOf = (watcher: number, workflowId: string | null) => `${watcher} ${workflowId ?? ''}`

/** A trigger for all workflows does not watch its own workflow, so that a failure of it does not start it again. */
function watches({ watchesAll, workflowIds, starts }: Watcher, workflowId: string): boolean {
  return watchesAll ? workflowId !== starts : workflowIds.has(workflowId)
}

/** Undefined for a cancelled run. */
function typeOf({ status }: EndedRun): EventType | undefined {
  if (status === 'cancelled') return undefined
  return status === 'error' ? 'run.failed' : 'run.succeeded'
}

function factsOf({ workflowId, workflowName, executionId, error }: EndedRun): Omit<Happening, 'type'> {
  return { workflowId, workflowName, executionId, error }
}

/** Links of a chain. A run at its end starts no further workflow. */
const chainMax = 100
