import type { JobFacts, JobPage } from '../domain/job.ts'

export type JobQueueOptions = {
  /** The oldest waiting jobs of each workflow, from the disk. */
  list(page: JobPage): Promise<JobFacts[]>
  /** Whether a job has been taken and is not yet gone from the disk. */
  isActive(executionId: string): boolean
  /** Jobs remembered at most; the others are read from the disk when their turn comes. */
  rememberedMax?: number
  /** Workflows that one list tells of at most. */
  workflowsMax?: number
}

/**
 * The line of waiting jobs: first those that were cut, then one of each workflow in turn, the oldest of each first.
 * Every job is on disk; here are the first of each workflow. Beyond a bound, which workflows share, they stay on disk
 * only, until `refill`. A workflow without a job in line gets a place whatever waits: nobody's thousands hold it up.
 */
export class JobQueue {
  readonly #options: JobQueueOptions
  readonly #rememberedMax: number
  readonly #workflowsMax: number
  readonly #first: JobFacts[] = []
  /** By workflow, each in the order of acceptance. A lane that was served goes to the end of the map. */
  readonly #lanes = new Map<string, JobFacts[]>()
  readonly #remembered = new Set<string>()
  /** Jobs that are being written, and not in line yet. */
  readonly #announced = new Set<string>()
  /** Jobs on disk that are not remembered here. */
  #left = 0
  /** Workflows that may have such jobs: a new one of theirs stays on disk, too, or it would overtake them. */
  #hidden = new Set<string>()
  /** The same from before the refill that is under way. */
  #hiddenBefore: ReadonlySet<string> = new Set()
  /** Whether any workflow may: an earlier process left jobs, and not all that have some were listed yet. */
  #mayAllHide = false
  /** The last workflow that was listed, when the next list is to go on behind it. */
  #listedUpTo: string | undefined
  /** Whether a workflow lost its last place in line while it has jobs on disk. */
  #isUneven = false
  #refilling: Promise<void> | undefined

  constructor(options: JobQueueOptions) {
    this.#options = options
    this.#rememberedMax = options.rememberedMax ?? 10_000
    this.#workflowsMax = options.workflowsMax ?? 1_000
  }

  get size(): number {
    return this.#first.length + this.#remembered.size + this.#announced.size + this.#left
  }

  /** Whether `refill` would find more. */
  get hasMore(): boolean {
    return this.#left > 0
  }

  /** Whether a workflow waits for a `refill` while others have their turns. */
  get isUneven(): boolean {
    return this.#isUneven && this.#refilling === undefined
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
    const { workflowId } = job
    if (!this.#mayAllHide && !this.#isHidden(workflowId) && this.#hasRoomFor(workflowId, this.#share)) {
      this.#remember(job)
    } else {
      this.#left += 1
      this.#hidden.add(workflowId)
    }
  }

  /** A job that has run before goes before all others. */
  putFirst(job: JobFacts): void {
    this.#first.push(job)
  }

  /** So many jobs lie on disk. */
  leave(count: number): void {
    this.#left += count
    this.#mayAllHide = count > 0
  }

  take(): JobFacts | undefined {
    const first = this.#first.shift()
    if (first) return first
    for (const [workflowId, lane] of this.#lanes) {
      this.#lanes.delete(workflowId)
      const job = lane.shift()
      if (lane.length > 0) this.#lanes.set(workflowId, lane)
      else this.#isUneven ||= this.#isHidden(workflowId)
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
        // A lane that is empty now loses its place when its turn comes.
        const place = lane.findIndex((job) => job.executionId === executionId)
        if (place >= 0) lane.splice(place, 1)
      }
    } else this.#left = Math.max(0, this.#left - 1)
  }

  /** Reads more jobs from the disk. Calls while one is under way share it. */
  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined
      for (const workflowId of this.#hiddenBefore) this.#hidden.add(workflowId)
      this.#hiddenBefore = new Set()
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const leftBefore = this.#left
    this.#hiddenBefore = this.#hidden
    this.#hidden = new Set()
    const workflowsMax = this.#workflowsMax
    const after = this.#listedUpTo
    const perWorkflow = this.#mayAllHide ? this.#shareOf(workflowsMax) : this.#share
    const listed = await this.#options.list({ perWorkflow, workflowsMax, after })
    const lists = Map.groupBy(listed, ({ workflowId }) => workflowId)
    if (after !== undefined) for (const id of this.#hiddenBefore) if (!lists.has(id)) this.#hidden.add(id)
    this.#hiddenBefore = new Set()
    this.#listedUpTo = lists.size >= workflowsMax ? listed.at(-1)?.workflowId : undefined
    this.#mayAllHide = this.#listedUpTo !== undefined
    let found = 0
    for (const [workflowId, list] of lists) {
      const more = list.filter((job) => !this.#isKnown(job))
      const fitting = more.findIndex((job) => !this.#rememberIfRoom(job, perWorkflow))
      found += fitting === -1 ? more.length : fitting
      if (fitting !== -1 || list.length >= perWorkflow) this.#hidden.add(workflowId)
    }
    // Still, when all of its jobs that were listed have just been taken, and the disk does not know yet; or when there are
    // workflows that were not listed: they get their places before the others are served again.
    this.#isUneven =
      this.#listedUpTo !== undefined || this.#hidden.keys().some((workflowId) => !this.#lanes.has(workflowId))
    // The count heals itself: when nothing is hidden any more, there is nothing left of what was left before.
    const isAllFound = this.#hidden.size === 0 && !this.#mayAllHide
    this.#left = isAllFound ? this.#left - leftBefore : Math.max(0, this.#left - found)
  }

  #isKnown({ executionId }: JobFacts): boolean {
    if (this.#remembered.has(executionId) || this.#announced.has(executionId)) return true
    return this.#options.isActive(executionId) || this.#first.some((job) => job.executionId === executionId)
  }

  #isHidden(workflowId: string): boolean {
    return this.#hidden.has(workflowId) || this.#hiddenBefore.has(workflowId)
  }

  /** Jobs of each workflow that are remembered, as long as there is room for all. */
  get #share(): number {
    return this.#shareOf(Math.max(this.#lanes.size, this.#hidden.size, this.#hiddenBefore.size))
  }

  #shareOf(workflows: number): number {
    return Math.min(shareMax, Math.max(1, Math.floor(this.#rememberedMax / Math.max(1, workflows))))
  }

  #hasRoomFor(workflowId: string, share: number): boolean {
    const { length } = this.#lanes.get(workflowId) ?? []
    return length === 0 || (length < share && this.#remembered.size < this.#rememberedMax)
  }

  #rememberIfRoom(job: JobFacts, share: number): boolean {
    const hasRoom = this.#hasRoomFor(job.workflowId, share)
    if (hasRoom) this.#remember(job)
    return hasRoom
  }

  #remember(job: JobFacts): void {
    this.#remembered.add(job.executionId)
    const lane = this.#lanes.get(job.workflowId)
    if (lane) lane.push(job)
    else this.#lanes.set(job.workflowId, [job])
  }
}

/** Jobs of one workflow that are remembered, and read at once, at most. */
const shareMax = 500
