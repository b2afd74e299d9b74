import type { Cost, ModelUsage } from './cost.ts'
import type { RunFile } from './file.ts'
import type { Redactor } from './redaction.ts'
import type { TriggerKind } from './workflow.ts'

export type Level = 'info' | 'error'
export type SpanStatus = 'success' | 'error' | 'skipped' | 'cancelled'

/** One try of a block that tries again: an API block's request, a model call. */
export type SpanAttempt = { number: number; startTime: number; durationMs: number; status?: number; error?: string }

/** What one block (or run, iteration, sub-workflow) did. Times are epoch milliseconds, durations milliseconds. */
export type Span = {
  /** `s` and a number; written without a look at it. */
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
  /** Of a request of a language model. Absent in all other spans, so that a run without models carries nothing of it. */
  usage?: ModelUsage
  /** Set when the block did not run: its outputs are those of an earlier run. Absent in all other spans. */
  reused?: true
  children: Span[]
}

/** Whether the block has not ended yet; of a span of a run in flight. */
export function isOpen({ status, output }: Span): boolean {
  return status === 'success' && output === null
}

/** What a block adds to its span. */
export type SpanNotes = Partial<Pick<Span, 'status' | 'input' | 'output' | 'error' | 'attempts' | 'usage'>> & {
  children?: readonly Span[]
}

/** How a run ended when it did not end well. */
export type RunFailure = {
  /** `EXECUTION_FAILED`, `EXECUTION_TIMEOUT`, `CANCELLED`, `CLIENT_CLOSED`, `INTERRUPTED`. */
  code: RunFailureCode
  message: string
  blockId: string | null
  blockName: string | null
}
export type RunFailureCode = 'EXECUTION_FAILED' | 'EXECUTION_TIMEOUT' | 'CANCELLED' | 'CLIENT_CLOSED' | 'INTERRUPTED'

/** A run that ended, before it is written down. */
export type RunRecord = {
  executionId: string
  workflowId: string
  workspaceId: string
  version: number
  trigger: TriggerKind
  /** When an asynchronous run was accepted; null for others. */
  createdAt: number | null
  startedAt: number
  endedAt: number
  durationMs: number
  failure: RunFailure | null
  output: unknown
  cost: Cost
  root: Span
  /** What keeps the workspace's secrets out of everything that is written down; undefined when it has none. */
  secrets: Redactor | undefined
  /** Its files; absent when there are none. */
  files?: readonly RunFile[]
}

/** The row of a log entry, as the store takes it: texts are made, nothing is left to decide. */
export type LogRow = {
  /** Sorts in the order of recording, never given twice; the entry's `id` is made of it. */
  sequence: number
  executionId: string
  workflowId: string
  workspaceId: string
  version: number
  level: Level
  trigger: TriggerKind
  /** When an asynchronous run was accepted; null for others. */
  createdAt: number | null
  startedAt: number
  endedAt: number
  durationMs: number
  costTotal: number
  /** The models that the run used: the keys of `cost.models`. */
  models: readonly string[]
  /** JSON text of the whole `Cost`; null when the run cost nothing. */
  cost: string | null
  /** JSON text. */
  finalOutput: string
  /**
   * The final output as the caller gets it, where that is not what the log may hold: of asynchronous runs, whose output
   * is asked for later. Null for all others. JSON text that must not be stored as it is.
   */
  rawOutput: string | null
  /** JSON text: the array of trace spans as they go on the wire. */
  traceSpans: string
  /** Its files; absent when there are none. */
  files?: LogFiles
  /** What webhooks it owes; absent when its workflow has no subscriptions. */
  webhooks?: RunWebhooks
}

/** What was decided about each subscription of a run's workflow when it ended; subscriptions go by their number. */
export type RunWebhooks = {
  /** `include`: bits of `include` in webhook.ts, as they were when the run ended. */
  deliveries: readonly { subscription: number; include: number }[]
  skipped: readonly { subscription: number; reason: SkipReason }[]
  /** JSON text `{ rateLimits, usage }` as they were when the run ended; null when no delivery includes them. */
  facts: string | null
}
/** Why a subscription is not told: it is switched off, or a filter of it keeps this run out. */
export type SkipReason = 'inactive' | 'level' | 'trigger'

/** Whether what a run cost counts against the limit of its account: of runs by hand nothing does. */
export function countsAsUsage({ costTotal, trigger }: Pick<LogRow, 'costTotal' | 'trigger'>): boolean {
  return costTotal > 0 && trigger !== 'manual'
}

/** `text`: JSON of the `RunFile`s. `folder`: where the stored ones lie; null when none is stored. */
export type LogFiles = { text: string; folder: string | null }
