import type { RunStatus } from '../run/log.ts'
import type { EventType, Watch } from './alert.ts'
import type { RuleState } from './rule-state.ts'

/** Some of what has happened in a workspace since the last evaluation, with everything that decides about it. */
export type AlertBatch = {
  workspaceId: string
  /** Rises with each evaluation, so that each is written once. */
  revision: number
  /** Active alerts and event triggers, oldest first. */
  watchers: readonly Watcher[]
  /** Ended runs of deployed versions, in the order of the log. */
  runs: readonly EndedRun[]
  /** Where the next batch begins. */
  position: AlertPosition
  /** Whether the log has more than this. Then it is too early to say that nothing has happened. */
  hasMore: boolean
  events: readonly StoredEvent[]
  states: readonly WatcherState[]
  /** The events that led to runs of this batch which an event had started, by execution ID. */
  chains: ReadonlyMap<string, EventChain>
}

/** A place in the log. `commitOrder`: null in a store that needs none. */
export type AlertPosition = { commitOrder: number | null; sequence: number }

/** An active alert or event trigger. */
export type Watcher = Omit<Watch, 'workflows'> & {
  number: number
  id: string
  name: string
  watchesAll: boolean
  /** The workflows of the batch that it names. */
  workflowIds: ReadonlySet<string>
  /** The workflow that the trigger starts; null for an alert. */
  starts: string | null
  /** Runs and events from before are not its concern. */
  since: number
  quietUntil: number | null
  suppressed: number
}

export type EndedRun = {
  sequence: number
  workflowId: string
  workflowName: string
  executionId: string
  status: RunStatus
  endedAt: number
  durationMs: number
  costUsd: number
  error: string | null
}

/** An event other than the end of a run. `detail`: for people. */
export type StoredEvent = {
  number: number
  type: EventType
  workflowId: string | null
  workflowName: string | null
  executionId: string | null
  at: number
  detail: string | null
}

/** The memory of a rule. `workflowId`: null when it counts all workflows together. */
export type WatcherState = {
  watcher: number
  workflowId: string | null
  workflowName: string | null
  state: RuleState
  /** When the rule "no activity" holds, unless something happens. */
  dueAt: number | null
}

/** The events of workflows that led to a run, as `type@workflow`. */
export type EventChain = readonly string[]
export const linkOf = (type: EventType, workflowId: string): string => `${type}@${workflowId}`

/** The result of an evaluation. The store writes all of it in one transaction, or nothing. */
export type AlertEvaluation = {
  workspaceId: string
  /** That of the batch. The evaluation is refused when another one came first. */
  revision: number
  position: AlertPosition
  /** The numbers of the events of the batch. */
  events: readonly number[]
  states: readonly Omit<WatcherState, 'workflowName'>[]
  watchers: readonly Pick<Watcher, 'number' | 'quietUntil' | 'suppressed'>[]
  firings: readonly Firing[]
  /** Runs that an event had started and that have ended. */
  endedChains: readonly string[]
}

/** A watcher fires: its message is delivered, or its workflow starts. */
export type Firing = {
  /** Set when it is written. Firings and log entries share one sequence of numbers. */
  sequence: number
  watcher: number
  at: number
  content: FiringContent
  /** Absent for an alert. */
  start?: { workflowId: string; executionId: string; chain: EventChain }
}

/** The facts of a firing, as its message and the started workflow show them. */
export type FiringContent = {
  alert: { id: string; name: string }
  /** `no_activity` when nothing happened. */
  type: EventType | 'no_activity'
  workflowId: string | null
  workflowName: string | null
  executionId: string | null
  error: string | null
  rule: Watch['rule']
  /** The measurement of the rule; null without a rule. */
  measured: { runs: number; sum: number } | null
  /** Events of the same kind that were not told since the message before. */
  suppressed: number
  at: string
}
