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

  /** Reserves the memory of a job that resumes, so that jobs which resume together have room together. */
  begin(job: JobFacts): void {
    this.#memory.hold(job, this.#bytes.get(job.executionId) ?? 0)
    this.#bytes.delete(job.executionId)
  }
}
