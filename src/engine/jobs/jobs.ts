// Long because it is one state machine: the counts of jobs and the queue change together.
import { ByteGate } from '../../domain/byte-gate.ts'
import type { Timer } from '../../domain/clock.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { Claim } from '../../domain/run/claim.ts'
import type { JobFacts } from '../../domain/run/job.ts'
import { cancelJob } from './cancel-job.ts'
import { CrowdedJobs } from './crowded-jobs.ts'
import { putAfterTurn, takeInterrupted } from './interrupted-jobs.ts'
import { JobQueue } from './job-queue.ts'
import { acceptanceOf, inputText, replaceInput } from './job-record.ts'
import { fullRefusal, stoppingRefusal } from './job-refusals.ts'
import { type ActiveJob, failJob, resumeJob, runJob, type Turn, type TurnEnd } from './job-turn.ts'
import { type JobInFlight, type JobRequest, type JobsOptions, statusOf } from './jobs-options.ts'
import { acceptPolled, type PolledOutcome, type PolledStarts } from './polled-jobs.ts'
import { QueueRefills } from './queue-refills.ts'
import { UncertainJobs } from './uncertain-jobs.ts'

/**
 * Asynchronous runs. A job is on disk before its caller receives the response. Workspaces take turns, and so do their
 * workflows, so that ten thousand queued jobs of one do not delay a single job of another. While a job runs, each block
 * that ends is written to its step history before the next one starts; when the process dies or is stopped, the next
 * process resumes from there. The commit that writes a job's log entry deletes the job. When the disk refuses a write,
 * the job is suspended, and tried again every second.
 */
export class Jobs {
  readonly #options: JobsOptions
  readonly #queue: JobQueue
  /** Jobs that run, or whose end is being written, by execution id. */
  readonly #active = new Map<string, ActiveJob>()
  /** Ids of suspended jobs that were cancelled before they resumed. */
  readonly #cancelled = new Set<string>()
  readonly #refills: QueueRefills
  readonly #crowded: CrowdedJobs
  readonly #uncertain: UncertainJobs
  /** A large step is in memory four times while it is being written. */
  readonly #gate = new ByteGate(16_777_216)
  #running = 0
  #stopped = false
  #pause: Timer | undefined
  #idle: (() => void) | undefined
  readonly #takeInterrupted = () => takeInterrupted({ ...this.#options, queue: this.#queue, active: this.#active })

  constructor(options: JobsOptions) {
    this.#options = options
    const { limited, window, priorityOf } = options
    const isActive = (executionId: string) => this.#active.has(executionId)
    limited?.open((job) => {
      this.#queue[job.startedAt === null ? 'put' : 'putFirst'](job)
      this.#dispatch()
    }, isActive)
    this.#queue = new JobQueue({
      claim: (page) => options.store.claimQueuedJobs(page),
      ...{ ...(window && { window }), ...(priorityOf && { priorityOf }) },
      isActive,
      isParked: (executionId) => limited?.isParked(executionId) === true,
    })
    const refills = { queue: this.#queue, clock: options.clock, pauseMs: retryMs, refilled: () => this.#dispatch() }
    this.#refills = new QueueRefills({ ...refills, failed: () => this.#pauseFor(retryMs) })
    this.#crowded = new CrowdedJobs(options.runner.memory)
    options.runner.memory.onFree(() => this.#dispatch())
    this.#uncertain = new UncertainJobs({ ...options, queue: this.#queue, isActive, found: () => this.#dispatch() })
  }

  get queued(): number {
    return this.#queue.size + (this.#options.limited?.parked ?? 0)
  }
  get waitingToResume(): number {
    return this.#queue.startedBefore
  }
  get running(): number {
    return this.#running
  }

  /**
   * Loads the jobs of an earlier process, and retries until the store responds. No job starts before that: it would be
   * counted as interrupted.
   */
  async open(): Promise<void> {
    const { store, clock } = this.#options
    this.#pause = { cancel() {} }
    try {
      const { queued, interrupted } = await store.parkJobs(true)
      // Usually there are none; then the reading thread need not start.
      if (interrupted > 0) await this.#takeInterrupted()
      this.#queue.addOnDisk(queued)
      this.#pause = undefined
      this.#dispatch()
    } catch {
      if (!this.#stopped) this.#pause = clock.setTimer(retryMs, () => void this.open())
    }
  }

  /** Takes jobs that no process has claimed, as far as there is room. Rejects with the errors of the store. */
  async takeOver(unclaimed: { queuedJobs: boolean; interruptedJobs: boolean }): Promise<void> {
    if (this.#pause || !this.#mayStart || this.#running >= this.#options.concurrency) return
    if (unclaimed.interruptedJobs) await this.#takeInterrupted()
    if (unclaimed.queuedJobs) this.#queue.expectMore()
    this.#dispatch()
  }

  /** Continues jobs whose pauses have ended. */
  resume(jobs: readonly JobFacts[]): void {
    for (const job of jobs) putAfterTurn(job, this.#queue, this.#active)
    this.#dispatch()
  }

  /** Throws OVERLOADED when no job can be taken. */
  assertAccepting(): void {
    if (this.#stopped) throw stoppingRefusal()
    if (this.queued >= this.#options.waitingMax) throw fullRefusal(this.#options.waitingMax)
  }

  /** Resolves when the job is on disk. Rejects when it could not be written. */
  async accept(request: JobRequest): Promise<JobFacts> {
    const { job } = await this.acceptOnce(request, undefined)
    if (!job) throw new Error('A job without a claim was refused')
    return job
  }

  /** The same with a claim. If another run has the claim, there is no job, and `claimedBy` is the other run's ID. */
  async acceptOnce(
    request: JobRequest,
    claim: Claim | undefined,
  ): Promise<{ job: JobFacts } | { job: undefined; claimedBy: string | null }> {
    const { clock, concurrency, seal, write, inSlices, limited } = this.#options
    const { workflowId, workspaceId, version, trigger, input } = request
    const given = inputText(input, inSlices)
    const text = typeof given === 'string' ? given : await given
    this.assertAccepting()
    const executionId = request.executionId ?? newExecutionId()
    const entering = limited?.enter(
      { executionId, workflowId, trigger, input },
      replaceInput(version, text, this.#options),
    )
    const { isParked, joined } = (entering instanceof Promise ? await entering : entering) ?? { isParked: false }
    const createdAt = clock.now()
    if (joined) return { job: { executionId: joined, workflowId, workspaceId, createdAt, startedAt: null } }
    const isFree = this.#running < concurrency && this.#queue.size === 0 && this.#pause === undefined && this.#mayStart
    const startsNow = isFree && !isParked && this.#crowded.mayStart(workspaceId)
    const startedAt = startsNow ? createdAt : null
    const facts = { executionId, workflowId, workspaceId, createdAt, startedAt, version, trigger }
    const acceptance = acceptanceOf({ ...facts, ...(isParked && { isClaimed: true }) }, { text, claim, seal })
    const inputBytes = text.length
    const job: JobFacts = { executionId, workflowId, workspaceId, createdAt, startedAt, inputBytes }
    if (startsNow) {
      this.#begin(job)
      limited?.begin(executionId)
    } else if (!isParked) this.#queue.announce(executionId)
    const run = (accepted?: Promise<unknown>) =>
      this.#start(job, () => runJob(this.#turnOf(job), facts, { input, inputBytes }, [], accepted))
    let isStarted = false
    const takeBack = async () => {
      limited?.leave(executionId)
      if (isStarted) await this.#abandon(executionId)
      else if (startsNow) this.#end(executionId)
      else if (!isParked) this.#queue.retract(executionId)
    }
    try {
      const writing = write(acceptance)
      if (startsNow && !claim) {
        // A run without outside effects may end before its job is on disk: then both are one commit.
        isStarted = true
        run(writing)
      }
      const refusal = await writing
      if (refusal) {
        await takeBack()
        return { job: undefined, claimedBy: refusal.executionId }
      }
    } catch (error) {
      await takeBack()
      if (startsNow) this.#uncertain.add(job, error)
      throw error
    }
    if (isParked) limited?.park(job)
    else if (!startsNow) {
      this.#queue.put(job)
      this.#dispatch()
    } else if (!isStarted) run()
    return { job }
  }

  /** Accepts runs that a poll starts, in the commit of what it has seen. Undefined when the poll has changed. */
  async acceptPolled(starts: PolledStarts): Promise<PolledOutcome | undefined> {
    if (starts.starts.length > 0) this.assertAccepting()
    try {
      return await acceptPolled(starts, { ...this.#options, queue: this.#queue })
    } finally {
      this.#dispatch()
    }
  }

  async find(executionId: string): Promise<JobInFlight | undefined> {
    const active = this.#active.get(executionId)
    if (active) return { ...active.job, status: 'processing' }
    const job = await this.#options.store.findJob(executionId)
    return job && { ...job, status: statusOf(job) }
  }

  /**
   * Cancels a job, whether it runs or waits; resolves when its end is on disk. False when there is no such job, or it
   * has ended; `elsewhere` when another process has it. Rejects with STORAGE_UNAVAILABLE when its end could not be
   * written yet; the job is then cancelled later.
   */
  cancel(executionId: string): Promise<boolean | 'elsewhere'> {
    const jobs = { options: this.#options, queue: this.#queue, active: this.#active, crowded: this.#crowded }
    return cancelJob(executionId, jobs)
  }

  /** Starts no more jobs. The runner stops those that run. */
  close(): void {
    this.#stopped = true
    this.#pause?.cancel()
    this.#refills.close()
    this.#uncertain.close()
  }

  /** To be called after the runner has stopped. Marks the remaining jobs so that the next process resumes them. */
  async stop(): Promise<void> {
    this.close()
    const idle = Promise.withResolvers<void>()
    this.#idle = idle.resolve
    if (this.#running > 0) await idle.promise
    await this.#options.store.parkJobs(false)
  }

  get #mayStart(): boolean {
    return !this.#stopped && (this.#options.mayStart?.() ?? true)
  }

  #dispatch(): void {
    while (this.#mayStart && this.#pause === undefined && this.#running < this.#options.concurrency) {
      const job = this.#queue.take(this.#crowded.mayStart)
      this.#refills.whenNeeded(job !== undefined)
      if (!job) return
      this.#begin(job)
      this.#start(job, () => resumeJob(this.#turnOf(job), job.executionId))
    }
  }

  /** Waits for the turn of a started job that could not be written. It has no outside effects, and is then dropped. */
  async #abandon(executionId: string): Promise<void> {
    const active = this.#active.get(executionId)
    if (active) active.isUnwritten = true
    await active?.ended.promise
  }

  #begin(job: JobFacts): void {
    this.#running += 1
    const { executionId } = job
    const isCancelled = this.#cancelled.delete(executionId)
    this.#active.set(executionId, { job, isCancelled, isRunning: false, ended: Promise.withResolvers() })
    this.#crowded.begin(job)
  }

  #end(executionId: string): void {
    this.#running -= 1
    this.#options.runner.memory.release(this.#active.get(executionId)!.job)
    this.#active.delete(executionId)
    if (this.#running === 0) this.#idle?.()
  }

  /** Never rejects: after an error the job is tried again, or ends with that error. */
  #start(job: JobFacts, turn: () => Promise<TurnEnd>): void {
    turn()
      .catch((error: unknown) => failJob(this.#options, job.executionId, error))
      .then((ending) => {
        const active = this.#active.get(job.executionId)
        const outcome = active?.isUnwritten ? 'done' : ending
        if (outcome === 'done') this.#options.limited?.leave(job.executionId)
        if (outcome === 'later' && active?.isCancelled) this.#cancelled.add(job.executionId)
        active?.ended.resolve(outcome)
        this.#end(job.executionId)
        if (outcome === 'parked') this.#parkAfterTurn(job, active)
        if (outcome === 'again' && !this.#stopped) this.#queue.putFirst(job)
        if (outcome === 'later' && !this.#stopped) {
          this.#queue.putFirst(job)
          if (active?.crowdedBytes === undefined) this.#pauseFor(retryMs)
          else this.#crowded.add(job.executionId, active.crowdedBytes)
        }
        this.#dispatch()
      })
  }

  /** A job that was cancelled during its turn gets another turn, in which it ends. */
  #parkAfterTurn(job: JobFacts, active: ActiveJob | undefined): void {
    const { limited } = this.#options
    if (!active?.isCancelled) limited?.park(job)
    else {
      limited?.leave(job.executionId)
      this.#cancelled.add(job.executionId)
      this.#queue.putFirst(job)
    }
  }

  #turnOf({ executionId }: JobFacts): Turn {
    const active = this.#active.get(executionId)
    if (!active) throw new Error(`The job ${executionId} was not begun`)
    return { ...this.#options, active, gate: this.#gate, isStopped: () => this.#stopped }
  }

  #pauseFor(ms: number): void {
    if (this.#pause || this.#stopped) return
    this.#pause = this.#options.clock.setTimer(ms, () => {
      this.#pause = undefined
      this.#dispatch()
    })
  }
}

const retryMs = 1_000
