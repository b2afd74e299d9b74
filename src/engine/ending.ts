import type { RunFailure, RunRecord, Span } from '../domain/log.ts'
import { beginningOf } from './journal.ts'
import { openSpan } from './open-span.ts'
import type { Run } from './run.ts'
import type { ScopeEnd } from './walk.ts'

/** The span of a run as a whole; the blocks' spans go below it. */
export function rootSpan(run: Run): Span {
  const span = openSpan(run, run.plan.document.name, 'workflow', null, run.startedAt)
  span.input = run.input.input
  run.root = span
  return span
}

/** The record of a run whose walk has ended; `root` is closed with it. */
export function recordOf(run: Run, root: Span, end: ScopeEnd, { version, createdAt }: Request): RunRecord {
  const { failure, output } = closeRun(run, root, end)
  const files = run.budget.files?.all ?? run.budget.root.files
  return {
    executionId: run.facts.executionId,
    workflowId: run.facts.workflowId,
    workspaceId: run.facts.workspaceId,
    version,
    trigger: run.facts.trigger,
    createdAt: createdAt ?? null,
    startedAt: root.startTime,
    endedAt: root.endTime,
    durationMs: root.durationMs,
    failure,
    output,
    cost: run.budget.cost,
    root,
    secrets: run.environment.redactor,
    ...(files && files.length > 0 ? { files } : undefined),
  }
}

/** What only the request knows of a run. */
type Request = { version: number; createdAt?: number | undefined }

/** Closes the root span of a run, or of a sub-run. */
export function closeRun(run: Run, root: Span, end: ScopeEnd): { failure: RunFailure | null; output: unknown } {
  run.ended = true
  if (end.kind === 'failed') {
    const { error, node } = end
    const { blockId = node.id, blockName = node.name } = error as { blockId?: string; blockName?: string }
    run.failure ??=
      run.response || run.reached ? undefined : { code: 'EXECUTION_FAILED', message: error.message, blockId, blockName }
  }
  const isAnswered = run.response !== undefined || run.reached !== undefined
  const failure = isAnswered ? null : (run.failure ?? (end.kind === 'stopped' ? stopped('CANCELLED') : null))
  const output = run.reached ? run.reached.output : (run.response ?? (end.kind === 'completed' ? end.output : null))
  if (run.journal) root.startTime = beginningOf(root)
  root.endTime = Math.max(root.startTime, run.powers.clock.now())
  root.durationMs = root.endTime - root.startTime
  root.output = output
  if (failure) {
    root.status = failure.code === 'CANCELLED' || failure.code === 'CLIENT_CLOSED' ? 'cancelled' : 'error'
    root.error = { code: failure.code, message: failure.message }
  }
  return { failure, output }
}

/** Why a run ended that was stopped from outside. */
export function stopped(code: 'CANCELLED' | 'CLIENT_CLOSED', message: string = stopMessages[code]): RunFailure {
  return { code, message, blockId: null, blockName: null }
}

const stopMessages = {
  CANCELLED: 'The run was cancelled.',
  CLIENT_CLOSED: 'The caller closed the connection before the run ended.',
} as const
