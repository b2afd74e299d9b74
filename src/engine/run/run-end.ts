import { isCancelled } from '../../domain/run/failure.ts'
import { type RunFailure, type RunRecord, type RunSource, type Span, sourceOf } from '../../domain/run/log.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { RunResponse } from '../block.ts'
import type { PartialRun, ScopeEnd } from './contracts.ts'
import type { Run } from './run.ts'
import { closeSpan, openSpan } from './spans.ts'
import type { StepHistory } from './step-history.ts'

/**
 * How a run ended. `response`: set when the run reached a `response` block. `suspension`: set, with the reason, when
 * the run was suspended to be resumed later; this happens only to a run with a step history.
 */
export type RunEnd = {
  record: RunRecord
  response: RunResponse | undefined
  suspension: { cause: unknown } | undefined
  /** The steps of a run with a waiting caller that may pause. */
  heldHistory?: StepHistory
  /** The observer at the end of the run; it may have been added during the run. */
  observer: RunObserver | undefined
}

/** Opens the span of the run as a whole. The spans of the blocks become its children. */
export function rootSpan(run: Run): Span {
  const span = openSpan(run, run.plan.document.name, 'workflow', null, run.startedAt)
  span.input = run.input.input
  run.root = span
  return span
}

/** Closes the root span of a run whose walk has ended, and returns the run's record. */
function recordOf(run: Run, root: Span, end: ScopeEnd, request: Request): RunRecord {
  const { version, createdAt, partial, source = sourceOf(request.trigger) } = request
  const { failure, output } = closeRun(run, root, end)
  const files = run.budget.files?.all ?? run.budget.root.files
  const pausedMs = run.budget.pauses?.pausedMs(root.endTime)
  return {
    executionId: run.facts.executionId,
    workflowId: run.facts.workflowId,
    workspaceId: run.facts.workspaceId,
    version,
    trigger: run.facts.trigger,
    createdAt: createdAt ?? run.budget.acceptedAt ?? null,
    startedAt: root.startTime,
    endedAt: root.endTime,
    durationMs: root.durationMs,
    ...(pausedMs === undefined ? undefined : { pausedMs }),
    failure,
    output,
    cost: run.budget.cost,
    root,
    secrets: run.environment.redactor,
    ...(files && files.length > 0 ? { files } : undefined),
    ...(partial?.isPart ? { partial: true } : undefined),
    ...(source ? { source } : undefined),
    ...(run.input.traceParent ? { traceParent: run.input.traceParent } : undefined),
    ...(run.budget.labels ? { labels: Object.fromEntries(run.budget.labels) } : undefined),
  }
}

/** The parts of the record that are known from the request only. */
type Request = {
  version: number
  trigger: StartKind
  createdAt?: number | undefined
  partial?: PartialRun | undefined
  source?: RunSource | undefined
}

/** Closes the root span of a run or sub-run, and says how the run ended. */
export function closeRun(run: Run, root: Span, end: ScopeEnd): { failure: RunFailure | null; output: unknown } {
  run.ended = true
  if (end.kind === 'failed') {
    const { error, node } = end
    const { blockId = node.id, blockName = node.name } = error as { blockId?: string; blockName?: string }
    run.failure ??=
      run.response || run.reached ? undefined : { code: 'EXECUTION_FAILED', message: error.message, blockId, blockName }
  }
  const hasResponse = run.response !== undefined || run.reached !== undefined
  const failure = hasResponse ? null : (run.failure ?? (end.kind === 'stopped' ? stopped('CANCELLED') : null))
  const output = run.reached ? run.reached.output : (run.response ?? (end.kind === 'completed' ? end.output : null))
  closeSpan(run, root)
  root.output = output
  if (failure) {
    root.status = isCancelled(failure) ? 'cancelled' : 'error'
    root.error = { code: failure.code, message: failure.message }
  }
  return { failure, output }
}

/** The failure of a run that was stopped from outside. */
export function stopped(code: 'CANCELLED' | 'CLIENT_CLOSED', message: string = stopMessages[code]): RunFailure {
  return { code, message, blockId: null, blockName: null }
}

const stopMessages = {
  CANCELLED: 'The run was cancelled.',
  CLIENT_CLOSED: 'The caller closed the connection before the run ended.',
} as const

/** Ends a run whose walk has ended. */
export function finish(run: Run, root: Span, request: Request, end: ScopeEnd): RunEnd {
  const record = recordOf(run, root, end, request)
  const { suspension, observer, history } = run
  const ended = { record, response: record.failure ? undefined : run.response, suspension, observer }
  return history?.isHeld ? { ...ended, heldHistory: history } : ended
}

/** Whether the caller receives an error. */
export function hasFailed({ record, response }: RunEnd): boolean {
  return record.failure !== null || (response?.status ?? 200) >= 500
}
