import { type EventType, eventTypes } from '../../domain/alert/alert.ts'
import type {
  AlertBatch,
  EndedRun,
  EventChain,
  StoredEvent,
  Watcher,
  WatcherState,
} from '../../domain/alert/evaluation.ts'
import { eventsOf, ruleOf } from './stored-alerts.ts'

// How both stores make a batch of the rows that they have read.

export type SqlWatcher = Omit<Watcher, 'events' | 'rule' | 'watchesAll' | 'workflowIds'> & {
  events: number
  rule: string | null
  watchesAll: number | boolean
}
/** `version`: below 1 for a draft. */
export type StoredRun = EndedRun & { workflow: number; version: number }
export type SqlEvent = Omit<StoredEvent, 'type'> & { type: number; workflow: number | null }
export type SqlState = Omit<WatcherState, 'state'> & { state: string }

type Parts = Pick<AlertBatch, 'workspaceId' | 'revision' | 'position' | 'hasMore'> & {
  watchers: readonly SqlWatcher[]
  runs: readonly StoredRun[]
  events: readonly SqlEvent[]
  /** The watched workflows of the batch. */
  names: readonly { watcher: number; workflowId: string }[]
  states: readonly SqlState[]
  chains: readonly { executionId: string; chain: string }[]
}

export function batchOf({ watchers, runs, events, names, states, chains, ...rest }: Parts): AlertBatch {
  const named = Map.groupBy(names, ({ watcher }) => watcher)
  return {
    ...rest,
    watchers: watchers.map(({ events: bits, rule, watchesAll, ...watcher }) => ({
      ...watcher,
      events: eventsOf(bits),
      rule: ruleOf(rule),
      watchesAll: Boolean(watchesAll),
      workflowIds: new Set(named.get(watcher.number)?.map(({ workflowId }) => workflowId)),
    })),
    // Runs of drafts are tries: the people who start them see how they end.
    runs: runs.flatMap(({ workflow: _, version, ...run }) => (version < 1 ? [] : [run])),
    events: events.map(({ workflow: _, type, ...event }) => ({ ...event, type: eventTypes[type]! })),
    states: states.map(({ state, ...row }) => ({ ...row, state: JSON.parse(state) as WatcherState['state'] })),
    chains: new Map(chains.map(({ executionId, chain }) => [executionId, JSON.parse(chain) as EventChain])),
  }
}

/**
 * How many runs, and how many events, a batch may have. An alert fires once in a batch, but a trigger without a quiet
 * time fires for each run: a burst of runs that many of them watch would not fit into memory.
 */
export function mostAtOnce(watchers: readonly Pick<SqlWatcher, 'quietMs'>[], limit: number): number {
  const repeating = watchers.filter(({ quietMs }) => quietMs === 0).length
  return repeating === 0 ? limit : Math.max(1, Math.min(limit, Math.floor(firingsMax / repeating)))
}

/** The first runs, as long as their rules have few enough states to read and write at once. */
export function runsWithin(
  runs: readonly StoredRun[],
  watchers: readonly Pick<SqlWatcher, 'rule'>[],
  limit: number,
): StoredRun[] {
  const rules = watchers.filter(({ rule }) => rule !== null).length
  const workflows = new Set<number>()
  const kept: StoredRun[] = []
  for (const run of runs) {
    workflows.add(run.workflow)
    if (kept.length === limit || (kept.length > 0 && rules * workflows.size > statesMax)) break
    kept.push(run)
  }
  return kept
}

/** The numbers of the workflows of a batch, and the runs that an event may have started. */
export function touchedBy(runs: readonly StoredRun[], events: readonly SqlEvent[]) {
  return {
    workflows: [...new Set([...runs, ...events].flatMap(({ workflow }) => workflow ?? []))],
    executionIds: [...runs, ...events].flatMap(({ executionId }) => executionId ?? []),
  }
}

/** An expression for both stores: the event of the credential `r`. */
export const signInText = `'The credential "' || r.name || '" needs a new sign-in. ' || coalesce(r.problem, '')`

export const eventNumber = (type: EventType): number => eventTypes.indexOf(type)

/** Firings for the runs of one batch. */
const firingsMax = 5_000
/** States in one batch. Writing this many takes some milliseconds. */
const statesMax = 2_000
