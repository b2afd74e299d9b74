import type { Redactor } from '../redaction/redactor.ts'
import type { TraceParent } from '../trace-context.ts'
import type { StartKind, TriggerKind } from '../workflow/workflow.ts'
import type { Cost, ModelUsage } from './cost.ts'
import type { RunFile } from './file.ts'

export type Level = 'info' | 'error'
/** How a run ended. Unlike `Level`, it tells a run that was stopped from one that failed. */
export const runStatuses = ['success', 'error', 'cancelled'] as const
export type RunStatus = (typeof runStatuses)[number]
/** The reason for a run, when its trigger does not say enough. */
export const runSources = ['rerun', 'form', 'mcp', 'poll', 'rss', 'event', 'email'] as const
export type RunSource = (typeof runSources)[number]

/** The source of a run that starts at this kind of trigger. */
export function sourceOf(start: StartKind): RunSource | undefined {
  return start === 'form' || start === 'poll' || start === 'rss' || start === 'event' || start === 'email'
    ? start
    : undefined
}

export type SpanStatus = 'success' | 'error' | 'skipped' | 'cancelled'

/** One attempt of a block that retries: an API block's request or a model call. */
export type SpanAttempt = { number: number; startTime: number; durationMs: number; status?: number; error?: string }

/** A pause at a block. `by`: the account of the last answer; null without one. */
export type SpanPause = {
  contextId: string
  kind: 'wait' | 'approval' | 'call'
  since: number
  endedAt: number
  outcome: 'answered' | 'expired' | 'cancelled'
  by: string | null
}

/** The record of one block, run, iteration or sub-workflow. Times are in epoch ms, durations in ms. */
export type Span = {
  /** `s` and a number. Written without escaping. */
  id: string
  name: string
  /** The block's type; `workflow` for the root, `iteration` for one pass of a loop or parallel. */
  type: string
  blockId: string | null
  status: SpanStatus
  startTime: number
  endTime: number
  durationMs: number
  input: unknown
  output: unknown
  error: { code: string; message: string } | null
  attempts: readonly SpanAttempt[] | null
  /** Only for a request to a language model, so that runs without models do not carry it. */
  usage?: ModelUsage
  /** Set when the run paused at the block. */
  pauses?: readonly SpanPause[]
  /** Set when the block did not run and its outputs come from an earlier run. */
  reused?: true
  /** Set when the block did not run and its outputs are those that are pinned to it. */
  pinned?: true
  /** The trace as which the run is exported. Only at the root. */
  traceId?: string
  children: Span[]
}

/** Whether the block is still running. */
export function isOpen({ status, output }: Span): boolean {
  return status === 'success' && output === null
}

/** The parts of a span that its block adds. */
export type SpanNotes = Partial<Pick<Span, 'status' | 'input' | 'output' | 'error' | 'attempts' | 'usage'>> & {
  children?: readonly Span[]
}

/** Why a run failed. */
export type RunFailure = {
  /** `EXECUTION_FAILED`, `EXECUTION_TIMEOUT`, `CANCELLED`, `CLIENT_CLOSED`, `INTERRUPTED`. */
  code: RunFailureCode
  message: string
  blockId: string | null
  blockName: string | null
}
export type RunFailureCode = 'EXECUTION_FAILED' | 'EXECUTION_TIMEOUT' | 'CANCELLED' | 'CLIENT_CLOSED' | 'INTERRUPTED'

/** A run that has ended but is not yet recorded. */
export type RunRecord = {
  executionId: string
  workflowId: string
  workspaceId: string
  version: number
  trigger: TriggerKind
  /** When an asynchronous run was accepted; null for other runs. */
  createdAt: number | null
  startedAt: number
  endedAt: number
  durationMs: number
  /** The part of `durationMs` in which the run was paused; absent when it never was. */
  pausedMs?: number
  failure: RunFailure | null
  output: unknown
  cost: Cost
  root: Span
  /** Removes the workspace's secrets from everything that is recorded; undefined when there are none. */
  secrets: Redactor | undefined
  /** The files of the run; absent when there are none. */
  files?: readonly RunFile[]
  /** Set when only a part of the workflow ran. */
  partial?: true
  source?: RunSource
  /** The labels that its blocks set; absent when there are none. */
  labels?: RunLabels
  /** The caller's place in a distributed trace. */
  traceParent?: TraceParent
}

/** The row of a log entry as the store writes it. All texts and decisions are final. */
export type LogRow = {
  /** Sorts by the order of recording and is never used twice. The entry's `id` derives from it. */
  sequence: number
  executionId: string
  workflowId: string
  workspaceId: string
  version: number
  level: Level
  trigger: TriggerKind
  /** When an asynchronous run was accepted; null for other runs. */
  createdAt: number | null
  startedAt: number
  endedAt: number
  durationMs: number
  /** The part of `durationMs` in which the run was paused; absent when it never was. */
  pausedMs?: number
  costTotal: number
  /** The models that the run used: the keys of `cost.models`. */
  models: readonly string[]
  /** JSON text of the whole `Cost`; null when the run cost nothing. */
  cost: string | null
  /** JSON text. */
  finalOutput: string
  /**
   * The output as the caller receives it, when redaction changed it. Only for asynchronous runs that succeeded, whose
   * callers fetch the output later; null for all others. JSON text that must be encrypted before it is stored.
   */
  rawOutput: string | null
  /** JSON text: the array of trace spans in wire form. */
  traceSpans: string
  /** The files of the run; absent when there are none. */
  files?: LogFiles
  /** Set when the run was stopped, or its caller left. Its level is `error`. */
  cancelled?: true
  /** Set when only a part of the workflow ran. */
  partial?: true
  source?: RunSource
  /** Why the run did not succeed, for lists and the search; absent when it did. */
  failure?: FailureNote
  labels?: RunLabels
  /** The run's webhook deliveries; absent when its workflow has no subscriptions. */
  webhooks?: RunWebhooks
}

/** A failure as lists show it. `message` may be shortened. */
export type FailureNote = RunFailure

/** Texts by name, such as `{ "customer": "Acme" }`. */
export type RunLabels = Readonly<Record<string, string>>

/** The decision about each webhook subscription when the run ended. Subscriptions are identified by number. */
export type RunWebhooks = {
  /** `include`: bits of `include` in webhook.ts, as they were when the run ended. */
  deliveries: readonly { subscription: number; include: number }[]
  skipped: readonly { subscription: number; reason: SkipReason }[]
  /** JSON text `{ rateLimits, usage }` as they were when the run ended; null when no delivery includes them. */
  facts: string | null
}
/**
 * Why a subscription receives nothing: it is inactive, it does not select the event, or one of its filters excludes the
 * run.
 */
export type SkipReason = 'inactive' | 'level' | 'trigger' | 'event'

/** Whether the run's cost counts against the account's limit. Manual runs do not count. */
export function countsAsUsage({ costTotal, trigger }: Pick<LogRow, 'costTotal' | 'trigger'>): boolean {
  return costTotal > 0 && trigger !== 'manual'
}

/** `text`: JSON of the `RunFile`s. `folder`: where the stored files are; null when none is stored. */
export type LogFiles = { text: string; folder: string | null }
