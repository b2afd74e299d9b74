import type { JobFacts, JobPage } from '../../domain/run/job.ts'
import { WorkflowTurns } from './workflow-turns.ts'

export type JobQueueOptions = {
  /** The oldest waiting jobs of each workflow, from the disk. They belong to this process from then on. */
  claim(page: JobPage): Promise<JobFacts[]>
  /** Whether a job has left the queue and is not deleted yet. */
  isActive(executionId: string): boolean
  /** Whether a job is parked because of the limits of its workflow. A parked job is not in the queue. */
  isParked?(executionId: string): boolean
  /** The priority of a workflow among those of its workspace; 0 when absent. */
  priorityOf?(workflowId: string): number
  window?: QueueWindow
}

/**
 * `remembered`: jobs in memory at most; the others are read from the disk when their turn comes. `perWorkflow`: jobs of
 * one workflow in memory, and in one read. `workflows`: in one read.
 */
export type QueueWindow = { remembered: number; perWorkflow: number; workflows: number }

/**
 * The queue of waiting jobs: first the interrupted ones, then one of each workspace in turn. Within a workspace,
 * workflows with a higher priority come first, and workflows of the same priority take turns. Within a workflow, the
 * oldest job comes first. So a workspace with many workflows gets no more turns than one with a single workflow.
 *
 * Every job is on disk; the first ones of each workflow are also in memory. Workflows share the room in memory; further
 * jobs stay on disk only (they are hidden) until `refill`. A workflow without any job in memory always gets room for
 * one, so the queue of one workflow never delays another one.
 */
export class JobQueue {
  readonly #options: JobQueueOptions
  readonly #window: QueueWindow
  /** By execution ID, because a process that lost a claim may get it again. */
  readonly #first = new Map<string, JobFacts>()
  /** By workflow, each in the order of acceptance. */
  readonly #byWorkflow = new Map<string, JobFacts[]>()
  /** The workflows above by workspace. The workspace, and the workflow in it, that was served last is at the end. */
  readonly #turns = new Map<string, WorkflowTurns>()
  readonly #remembered = new Set<string>()
  /** Jobs that are being written and are not in the queue yet. */
  readonly #announced = new Set<string>()
  /** The number of jobs on disk that are not in memory. */
  #onDisk = 0
  /** Workflows that may have such jobs. A new job of theirs stays on disk too, since it must not overtake them. */
  #hidden = new Set<string>()
  /** The same set from before the current refill. */
  #hiddenBefore: ReadonlySet<string> = new Set()
  /** Whether any workflow may have such jobs: an earlier process left some, and not all workflows were listed yet. */
  #mayAllBeHidden = false
  /** The last workflow in the previous list, if the next list continues after it. */
  #listedUpTo: string | undefined
  /** Whether a workflow has jobs on disk but none in memory. */
  #isUneven = false
  #isHeldBack = false
  #foundNone = false
  #refilling: Promise<void> | undefined

  constructor(options: JobQueueOptions) {
    this.#options = options
    this.#window = options.window ?? { remembered: 10_000, perWorkflow: 500, workflows: 1_000 }
  }

  get size(): number {
    return this.#first.size + this.#remembered.size + this.#announced.size + this.#onDisk
  }

  /** The number of queued jobs that have started before. All of them are in memory. */
  get startedBefore(): number {
    return this.#first.size
  }

  /** Whether `refill` would find more. */
  get hasMore(): boolean {
    return this.#onDisk > 0
  }

  /** Whether a workflow needs a `refill` to get its next turn. */
  get isUneven(): boolean {
    return this.#isUneven && this.#refilling === undefined
  }

  /** A job that is about to be written. */
  announce(executionId: string): void {
    this.#announced.add(executionId)
  }

  /** Takes back an announced job that could not be written. */
  retract(executionId: string): void {
    this.#announced.delete(executionId)
  }

  /** A job that is on disk now. */
  put(job: JobFacts): void {
    this.#announced.delete(job.executionId)
    const { workflowId } = job
    if (!this.#mayAllBeHidden && !this.#isHidden(workflowId) && this.#hasRoomFor(workflowId, this.#share)) {
      this.#remember(job)
    } else {
      this.#onDisk += 1
      this.#hidden.add(workflowId)
    }
  }

  /** A job that has started before goes ahead of all others. */
  putFirst(job: JobFacts): void {
    this.#first.set(job.executionId, job)
  }

  /** Adds a number of jobs that are on disk only. */
  addOnDisk(count: number): void {
    this.#onDisk += count
    this.#mayAllBeHidden = count > 0
  }

  /** Any workflow may have jobs on disk that are not counted: another process accepted them, or gave them up. */
  expectMore(): void {
    this.#onDisk = Math.max(this.#onDisk, 1)
    this.#mayAllBeHidden = true
  }

  /**
   * Whether the latest `take` passed over a workspace that may not start a job now, or the latest `refill` found only
   * parked jobs.
   */
  get isHeldBack(): boolean {
    return this.#isHeldBack || this.#foundNone
  }

  /** The next job of a workspace that may start one now. No job overtakes an interrupted one of its workflow. */
  take(mayStart: MayStart = () => true): JobFacts | undefined {
    this.#isHeldBack = false
    // Another job of the workflow would need as much memory, and take it from the job that waits for it.
    const waiting = new Set<string>()
    for (const job of this.#first.values()) {
      const { workspaceId, workflowId, executionId } = job
      if (waiting.has(workflowId)) continue
      if (mayStart(workspaceId, executionId)) {
        this.#first.delete(executionId)
        return job
      }
      waiting.add(workflowId)
    }
    this.#isHeldBack = waiting.size > 0
    for (const [workspaceId, workflows] of this.#turns) {
      const job = mayStart(workspaceId) ? this.#takeOf(workflows, waiting) : undefined
      if (!job && workflows.size > 0) {
        this.#isHeldBack = true
        continue
      }
      this.#turns.delete(workspaceId)
      if (workflows.size > 0) this.#turns.set(workspaceId, workflows)
      if (job) return job
    }
    return undefined
  }

  /** Takes the next job of a workspace's workflows, without those that are waiting for memory. */
  #takeOf(workflows: WorkflowTurns, waiting: ReadonlySet<string>): JobFacts | undefined {
    for (const workflowId of workflows) {
      if (waiting.has(workflowId)) continue
      workflows.delete(workflowId)
      const jobs = this.#byWorkflow.get(workflowId)
      const job = jobs?.shift()
      if (jobs && jobs.length > 0) workflows.add(workflowId, this.#priorityOf(workflowId))
      else {
        this.#byWorkflow.delete(workflowId)
        this.#isUneven ||= this.#isHidden(workflowId)
      }
      if (!job) continue
      this.#remembered.delete(job.executionId)
      return job
    }
    return undefined
  }

  /** Removes a job that is being ended elsewhere. */
  remove(executionId: string): void {
    if (this.#first.delete(executionId)) return
    if (this.#remembered.delete(executionId)) {
      for (const jobs of this.#byWorkflow.values()) {
        // `take` removes a workflow whose list is empty.
        const place = jobs.findIndex((job) => job.executionId === executionId)
        if (place >= 0) jobs.splice(place, 1)
      }
    } else this.#onDisk = Math.max(0, this.#onDisk - 1)
  }

  /** Reads more jobs from the disk. Concurrent calls share one read. */
  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined
      for (const workflowId of this.#hiddenBefore) this.#hidden.add(workflowId)
      this.#hiddenBefore = new Set()
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const onDiskBefore = this.#onDisk
    this.#hiddenBefore = this.#hidden
    this.#hidden = new Set()
    const workflowsMax = this.#window.workflows
    const after = this.#listedUpTo
    const perWorkflow = this.#mayAllBeHidden ? this.#shareOf(workflowsMax) : this.#share
    const listed = await this.#options.claim({ perWorkflow, workflowsMax, after })
    const lists = Map.groupBy(listed, ({ workflowId }) => workflowId)
    if (after !== undefined) for (const id of this.#hiddenBefore) if (!lists.has(id)) this.#hidden.add(id)
    this.#hiddenBefore = new Set()
    this.#listedUpTo = lists.size >= workflowsMax ? listed.at(-1)?.workflowId : undefined
    this.#mayAllBeHidden = this.#listedUpTo !== undefined
    let found = 0
    for (const [workflowId, list] of lists) {
      const more = list.filter((job) => !this.#isKnown(job))
      const fitting = more.findIndex((job) => !this.#rememberIfRoom(job, perWorkflow))
      found += fitting === -1 ? more.length : fitting
      if (fitting !== -1 || list.length >= perWorkflow) this.#hidden.add(workflowId)
    }
    // Still true if all listed jobs of a workflow have just been taken, or if some workflows were not listed yet.
    const isParked = ({ executionId }: JobFacts) => this.#options.isParked?.(executionId) === true
    const isBehind = (workflowId: string) =>
      !this.#byWorkflow.has(workflowId) && lists.get(workflowId)?.every(isParked) !== true
    this.#isUneven = this.#listedUpTo !== undefined || this.#hidden.keys().some(isBehind)
    this.#foundNone = found === 0 && listed.some(isParked)
    // This corrects the count: when nothing is hidden any more, none of the earlier jobs is on disk only.
    const isAllFound = this.#hidden.size === 0 && !this.#mayAllBeHidden
    this.#onDisk = isAllFound ? this.#onDisk - onDiskBefore : Math.max(0, this.#onDisk - found)
  }

  #isKnown({ executionId }: JobFacts): boolean {
    if (this.#remembered.has(executionId) || this.#announced.has(executionId)) return true
    if (this.#options.isActive(executionId) || this.#first.has(executionId)) return true
    return this.#options.isParked?.(executionId) === true
  }

  #isHidden(workflowId: string): boolean {
    return this.#hidden.has(workflowId) || this.#hiddenBefore.has(workflowId)
  }

  /** The number of jobs of each workflow that fit in memory. */
  get #share(): number {
    return this.#shareOf(Math.max(this.#byWorkflow.size, this.#hidden.size, this.#hiddenBefore.size))
  }

  #shareOf(workflows: number): number {
    const { remembered, perWorkflow } = this.#window
    return Math.min(perWorkflow, Math.max(1, Math.floor(remembered / Math.max(1, workflows))))
  }

  #hasRoomFor(workflowId: string, share: number): boolean {
    const { length } = this.#byWorkflow.get(workflowId) ?? []
    return length === 0 || (length < share && this.#remembered.size < this.#window.remembered)
  }

  #rememberIfRoom(job: JobFacts, share: number): boolean {
    const hasRoom = this.#hasRoomFor(job.workflowId, share)
    if (hasRoom) this.#remember(job)
    return hasRoom
  }

  #remember(job: JobFacts): void {
    this.#remembered.add(job.executionId)
    const { workflowId, workspaceId } = job
    const jobs = this.#byWorkflow.get(workflowId)
    if (jobs) {
      jobs.push(job)
      return
    }
    this.#byWorkflow.set(workflowId, [job])
    const workflows = this.#turns.get(workspaceId) ?? new WorkflowTurns()
    workflows.add(workflowId, this.#priorityOf(workflowId))
    this.#turns.set(workspaceId, workflows)
  }

  #priorityOf(workflowId: string): number {
    return this.#options.priorityOf?.(workflowId) ?? 0
  }
}

/** `executionId`: set for a job that has started before. */
type MayStart = (workspaceId: string, executionId?: string) => boolean
