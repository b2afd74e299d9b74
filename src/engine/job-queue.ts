import type { JobFacts } from '../domain/job.ts'

export type JobQueueOptions = {
  /** The oldest waiting jobs of each workflow, from the disk. */
  list(perWorkflow: number): Promise<JobFacts[]>
  /** Whether a job has been taken and is not yet gone from the disk. */
  isActive(executionId: string): boolean
  /** Jobs remembered at most; the others are read from the disk when their turn comes. */
  rememberedMax?: number
}

/**
 * The line of waiting jobs: first those that were cut, then one of each workflow in turn, the oldest of each first.
 * Every job is on disk; here are the first of them. Beyond a bound they stay on disk only, until `refill`.
 */
export class JobQueue {
  readonly #options: JobQueueOptions
  readonly #rememberedMax: number
  readonly #first: JobFacts[] = []
  /** By workflow, each in the order of acceptance. A lane that was served goes to the end of the map. */
  readonly #lanes = new Map<string, JobFacts[]>()
  readonly #remembered = new Set<string>()
  /** Jobs that are being written, and not in line yet. */
  readonly #announced = new Set<string>()
  /** Jobs on disk that are not remembered here. */
  #left = 0
  #refilling: Promise<void> | undefined

  constructor(options: JobQueueOptions) {
    this.#options = options
    this.#rememberedMax = options.rememberedMax ?? 10_000
  }

  get size(): number {
    return this.#first.length + this.#remembered.size + this.#announced.size + this.#left
  }

  /** Whether `refill` would find more. */
  get hasMore(): boolean {
    return this.#left > 0
  }

  /** A job that is about to be written. */
  announce(executionId: string): void {
    this.#announced.add(executionId)
  }

  /** An announced job that could not be written. */
  withdraw(executionId: string): void {
    this.#announced.delete(executionId)
  }

  /** A job that is on disk now. */
  put(job: JobFacts): void {
    this.#announced.delete(job.executionId)
    // Behind jobs that are only on disk it must stay there, too, or it would overtake them.
    if (this.#left > 0 || this.#remembered.size >= this.#rememberedMax) this.#left += 1
    else this.#remember(job)
  }

  /** A job that has run before goes before all others. */
  putFirst(job: JobFacts): void {
    this.#first.push(job)
  }

  /** So many jobs lie on disk. */
  leave(count: number): void {
    this.#left += count
  }

  take(): JobFacts | undefined {
    const first = this.#first.shift()
    if (first) return first
    for (const [workflowId, lane] of this.#lanes) {
      this.#lanes.delete(workflowId)
      const job = lane.shift()
      if (lane.length > 0) this.#lanes.set(workflowId, lane)
      if (!job) continue
      this.#remembered.delete(job.executionId)
      return job
    }
    return undefined
  }

  /** Takes a job out of the line that is gone from the disk. */
  remove(executionId: string): void {
    const index = this.#first.findIndex((job) => job.executionId === executionId)
    if (index >= 0) {
      this.#first.splice(index, 1)
    } else if (this.#remembered.delete(executionId)) {
      for (const lane of this.#lanes.values()) {
        const place = lane.findIndex((job) => job.executionId === executionId)
        if (place >= 0) lane.splice(place, 1)
      }
    } else this.#left = Math.max(0, this.#left - 1)
  }

  /** Reads more jobs from the disk. Calls while one is under way share it. */
  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const leftBefore = this.#left
    const jobs = await this.#options.list(perWorkflow)
    let found = 0
    for (const job of jobs) {
      const { executionId } = job
      const isKnown = this.#remembered.has(executionId) || this.#announced.has(executionId)
      if (isKnown || this.#options.isActive(executionId) || this.#isFirst(executionId)) continue
      if (this.#remembered.size >= this.#rememberedMax) break
      this.#remember(job)
      found += 1
    }
    // The count heals itself: an empty answer means that there is nothing left of what was left before.
    this.#left = found === 0 ? this.#left - leftBefore : Math.max(0, this.#left - found)
  }

  #isFirst(executionId: string): boolean {
    return this.#first.some((job) => job.executionId === executionId)
  }

  #remember(job: JobFacts): void {
    this.#remembered.add(job.executionId)
    const lane = this.#lanes.get(job.workflowId)
    if (lane) lane.push(job)
    else this.#lanes.set(job.workflowId, [job])
  }
}

/** Jobs of one workflow that are read at once. */
const perWorkflow = 500
