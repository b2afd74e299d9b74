import { AppError, StartSkipped } from '../../domain/errors.ts'
import type { StartKind } from '../../domain/workflow/workflow.ts'
import type { StartLimits } from '../compile/start-limits.ts'

/** The outcomes of starts over the limits. */
export type StartOutcome = 'queued' | 'skipped' | 'refused' | 'replaced'
/** The start that an outcome is about. */
export type CountedStart = { workflowId: string; executionId: string; trigger: StartKind }
export type OnOutcome = (outcome: StartOutcome, workflowId: string, refused?: CountedStart) => void
export type StartCounts = Record<StartOutcome, number>

/** Counts the starts over the limits of their workflows. */
export class StartCounter {
  readonly #onOutcome: OnOutcome | undefined
  readonly #counts = new Map<string, StartCounts>()

  constructor({ onOutcome }: { onOutcome?: OnOutcome }) {
    this.#onOutcome = onOutcome
  }

  of(workflowId: string): StartCounts {
    return this.#counts.get(workflowId) ?? { queued: 0, skipped: 0, refused: 0, replaced: 0 }
  }

  add(workflowId: string, outcome: StartOutcome, refused?: CountedStart): void {
    const counts = this.of(workflowId)
    counts[outcome] += 1
    this.#counts.set(workflowId, counts)
    this.#onOutcome?.(outcome, workflowId, refused)
  }

  /** Counts a start that is skipped or refused. Returns the error for its caller. */
  refused(start: CountedStart, { beyond, queueMax }: StartLimits, retryAfterS: number): AppError | StartSkipped {
    this.add(start.workflowId, beyond === 'skip' ? 'skipped' : 'refused', start)
    if (beyond === 'skip') return new StartSkipped()
    const message =
      beyond === 'refuse'
        ? 'The workflow has reached its limits (limits.concurrency or limits.rate). Try again later.'
        : `${queueMax} starts are waiting, the most that limits.queueMax of the workflow allows. Try again later.`
    return new AppError('WORKFLOW_LIMIT', message, { retryAfterS })
  }
}
