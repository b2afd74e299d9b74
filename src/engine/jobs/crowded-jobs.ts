import type { JobFacts } from '../../domain/run/job.ts'
import type { RunMemory } from '../run/run-memory.ts'

/** Decides by the memory of all runs which jobs may start, and knows the jobs that were suspended because of it. */
export class CrowdedJobs {
  readonly #memory: Pick<RunMemory, 'hasRoom' | 'hold'>
  /** The bytes that each suspended job held, by execution ID. */
  readonly #bytes = new Map<string, number>()

  constructor(memory: Pick<RunMemory, 'hasRoom' | 'hold'>) {
    this.#memory = memory
  }

  add(executionId: string, bytes: number): void {
    this.#bytes.set(executionId, bytes)
  }

  remove(executionId: string): void {
    this.#bytes.delete(executionId)
  }

  /** Whether the next job of a workspace may start, or this job may resume. */
  readonly mayStart = (workspaceId: string, executionId = ''): boolean =>
    this.#memory.hasRoom(workspaceId, this.#bytes.get(executionId))

  /**
   * Reserves the memory of a job that starts or resumes, so that jobs which start together have room together. A run
   * counts its input twice: as text and as a value.
   */
  begin(job: JobFacts): void {
    const { executionId, inputBytes = 0 } = job
    this.#memory.hold(job, Math.max(this.#bytes.get(executionId) ?? 0, 2 * inputBytes))
    this.#bytes.delete(executionId)
  }
}
