import type { LogRow } from '../../domain/log.ts'
import { lengthOfWrite, type Write } from '../../domain/write.ts'

/**
 * What may go to the journal. That is acknowledged there, so only that comes in which the database cannot refuse: of workflows
 * that it has taken an entry of before, in rising order, and nothing that is decided there (a claim, a new job).
 */
export class JournalAdmission {
  /** Workflows that the database knows, with their workspace. */
  readonly #workflows = new Map<string, string>()
  #lastSequence = 0
  #latestWorkflowId = ''

  admits(writes: readonly Write[]): boolean {
    let last = this.#lastSequence
    let chars = 0
    for (const write of writes) {
      if (!this.#isTakenForSure(write)) return false
      chars += lengthOfWrite(write)
      if (write.kind !== 'log') continue
      if (write.row.sequence <= last) return false
      last = write.row.sequence
    }
    return chars <= charsMax
  }

  /** Writes that are on disk. */
  learn(writes: readonly Write[]): void {
    for (const write of writes) if (write.kind === 'log') this.#learnRow(write.row)
  }

  learnSequence(sequence: number): void {
    this.#lastSequence = Math.max(this.#lastSequence, sequence)
  }

  #learnRow({ workflowId, workspaceId, sequence }: LogRow): void {
    if (sequence > this.#lastSequence) this.#lastSequence = sequence
    // Runs that end together are mostly of one workflow.
    if (workflowId === this.#latestWorkflowId) return
    this.#latestWorkflowId = workflowId
    if (this.#workflows.size >= workflowsMax) this.#workflows.clear()
    this.#workflows.set(workflowId, workspaceId)
  }

  /** Nothing that is decided in the database: whether a claim holds, or an id is free. */
  #isTakenForSure(write: Write): boolean {
    switch (write.kind) {
      case 'log':
        return write.claim === undefined && this.#knows(write.row) && hasNumbers(write.row)
      case 'job-start':
      case 'job-step':
        return true
      case 'job':
      case 'schedule':
      case 'chat':
        return false
    }
  }

  #knows({ workflowId, workspaceId }: Pick<LogRow, 'workflowId' | 'workspaceId'>): boolean {
    return this.#workflows.get(workflowId) === workspaceId
  }
}

/** Those that the database insists on. */
function hasNumbers({ startedAt, endedAt, durationMs, costTotal }: LogRow): boolean {
  return Number.isInteger(startedAt) && Number.isInteger(endedAt) && Number.isFinite(durationMs + costTotal)
}

/** Of one group. */
const charsMax = 262_144
const workflowsMax = 10_000
