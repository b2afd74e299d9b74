import type { Clock, Timer } from '../../domain/clock.ts'
import { isRefusedForNow } from '../../domain/errors.ts'
import type { JobFacts } from '../../domain/run/job.ts'
import type { JobQueue } from './job-queue.ts'
import type { JobStore } from './job-store.ts'

export type UncertainJobsOptions = {
  store: Pick<JobStore, 'findJob'>
  clock: Pick<Clock, 'setTimer'>
  queue: Pick<JobQueue, 'putFirst'>
  isActive(executionId: string): boolean
  /** Called when jobs were put into the queue. */
  found(): void
}

/**
 * Jobs that may be in the store although writing them failed: a database whose connection is lost in a commit may have
 * committed. Such a job belongs to this process, so no other one would run it, and a repeated request with the same
 * idempotency key would refer to it. It is looked for once the store responds again.
 */
export class UncertainJobs {
  readonly #options: UncertainJobsOptions
  #jobs: JobFacts[] = []
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: UncertainJobsOptions) {
    this.#options = options
  }

  /** `error`: why it could not be written. */
  add(job: JobFacts, error: unknown): void {
    if (!isRefusedForNow(error)) return
    this.#jobs.push(job)
    this.#lookLater()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #lookLater(): void {
    if (this.#isClosed) return
    this.#timer ??= this.#options.clock.setTimer(lookMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const { store, queue, isActive, found } = this.#options
    const jobs = this.#jobs
    this.#jobs = []
    for (const [index, job] of jobs.entries()) {
      try {
        if ((await store.findJob(job.executionId)) && !isActive(job.executionId)) queue.putFirst(job)
      } catch {
        this.#jobs.push(...jobs.slice(index))
        break
      }
    }
    this.#timer = undefined
    if (this.#jobs.length > 0) this.#lookLater()
    found()
  }
}

/** Long enough that a commit that was under way has ended. */
const lookMs = 5_000
