import type { Claim, Refusal } from '../domain/claim.ts'
import type { Clock, Timer } from '../domain/clock.ts'
import type { Environment } from '../domain/environment.ts'
import { AppError } from '../domain/errors.ts'
import { newExecutionId } from '../domain/ids.ts'
import type { JobFacts } from '../domain/job.ts'
import type { RunRecord } from '../domain/log.ts'
import type { JobWrite } from '../domain/write.ts'
import type { Deployment } from './deployments.ts'
import { JobQueue } from './job-queue.ts'
import { acceptance } from './job-record.ts'
import type { JobRequest } from './job-request.ts'
import type { JobStore } from './job-store.ts'
import { type ActiveJob, endJob, failJob, resumeJob, stepsOf, type Turn, type TurnEnd, walkJob } from './job-turn.ts'
import type { Journal } from './journal.ts'
import type { RunEnd, RunRequest } from './runner.ts'

export type JobsOptions = {
  store: JobStore
  /** Resolves when it is on disk, or with a refusal when its claim belongs to another. */
  write(write: JobWrite): Promise<Refusal | undefined>
  /** Writes the log entry of a job that no run ends, which ends it. */
  record(record: RunRecord): Promise<unknown>
  /** Encrypts what lies on disk of a job while it runs; `context` ties it to its job. */
  seal(text: string, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): string
  runner: {
    executeJob(request: RunRequest & { journal: Journal }): Promise<RunEnd>
    cancel(executionId: string): boolean
  }
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  /** A version of a workflow, compiled; also of one that is deleted. */
  deploymentOf(workflowId: string, version: number): Promise<Deployment | undefined>
  clock: Clock
  /** Jobs that run at once. */
  concurrency: number
  /** Jobs that wait, at most; beyond them callers are refused. */
  waitingMax: number
  timeoutMs: number
  /** Told of what went wrong inside, not in a workflow. */
  onBug(executionId: string, error: unknown): void
}

/** A job that has not ended. */
export type JobInFlight = JobFacts & { status: 'queued' | 'processing' }

/**
 * Asynchronous runs. A job is on disk before its caller hears of it. It waits in line with those of its workflow, and
 * workflows take turns, so that one with ten thousand jobs does not hold up one with a single job. While it runs, each
 * block that ends is written to its journal first; when the process dies, or is stopped, the next one goes on from there.
 * A job is done when its log entry is written: the same commit takes the job away.
 *
 * What the disk refuses stops a job where it is; it tries again a second later, for as long as it takes.
 */
export class Jobs {
  readonly #options: JobsOptions
  readonly #queue: JobQueue
  /** Jobs that run, or whose end is being written. */
  readonly #active = new Map<string, ActiveJob>()
  /** Of jobs that go on later: those that were cancelled before they could. */
  readonly #cancelled = new Set<string>()
  #running = 0
  #stopped = false
  #pause: Timer | undefined
  #idle: (() => void) | undefined

  constructor(options: JobsOptions) {
    this.#options = options
    this.#queue = new JobQueue({
      list: (page) => options.store.listQueuedJobs(page),
      isActive: (executionId) => this.#active.has(executionId),
    })
  }

  get queued(): number {
    return this.#queue.size
  }

  get running(): number {
    return this.#running
  }

  /** Takes up what an earlier process left, as soon as the disk lets it. No job begins before: it would count as cut. */
  async open(): Promise<void> {
    const { store, clock } = this.#options
    this.#pause = { cancel() {} }
    try {
      const { queued, cut } = await store.parkJobs(true)
      // Most starts find nothing: they need not wake a thread that reads.
      if (cut > 0) for (const job of await store.listCutJobs()) this.#queue.putFirst(job)
      this.#queue.leave(queued)
      this.#pause = undefined
      this.#pump()
    } catch {
      if (!this.#stopped) this.#pause = clock.setTimer(retryMs, () => void this.open())
    }
  }

  /** Throws OVERLOADED when no job can be taken. */
  assertAccepting(): void {
    const { waitingMax } = this.#options
    if (this.#stopped) {
      throw new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
    }
    if (this.#queue.size < waitingMax) return
    throw new AppError(
      'OVERLOADED',
      `${waitingMax} asynchronous runs are waiting, the most that MILLRACE_JOBS_WAITING_MAX allows. Try again later.`,
      { retryAfterS: 10 },
    )
  }

  /** Resolves when the job is on disk; rejects, and there is no job, when it could not be written. */
  async accept(request: JobRequest): Promise<JobFacts> {
    const { job } = await this.acceptOnce(request, undefined)
    if (!job) throw new Error('A job without a claim was refused')
    return job
  }

  /** The same for a job that has a claim: when another has it there is no job, and `holder` is the run that has it. */
  async acceptOnce(
    request: JobRequest,
    claim: Claim | undefined,
  ): Promise<{ job: JobFacts } | { job: undefined; holder: string | null }> {
    this.assertAccepting()
    const { clock, concurrency, seal, write } = this.#options
    const { workflowId, workspaceId, version, trigger, input } = request
    const executionId = request.executionId ?? newExecutionId()
    const createdAt = clock.now()
    const startsNow = this.#running < concurrency && this.#queue.size === 0 && this.#pause === undefined
    const startedAt = startsNow ? createdAt : null
    const job: JobFacts = { executionId, workflowId, workspaceId, createdAt, startedAt }
    if (startsNow) this.#begin(job)
    else this.#queue.announce(executionId)
    const lead = (accepted?: Promise<unknown>) =>
      this.#start(job, () => walkJob(this.#turnOf(job), { ...job, version, trigger }, input, [], accepted))
    let isLed = false
    const takeBack = async () => {
      if (isLed) await this.#letGo(executionId)
      else if (startsNow) this.#end(executionId)
      else this.#queue.withdraw(executionId)
    }
    try {
      const writing = write(acceptance({ ...job, version, trigger }, { input, claim, seal }))
      if (startsNow && !claim) {
        // A run that acts on nothing is over by the time that it would be on disk: then both are one commit.
        isLed = true
        lead(writing)
      }
      const refusal = await writing
      if (refusal) {
        await takeBack()
        return { job: undefined, holder: refusal.executionId }
      }
    } catch (error) {
      await takeBack()
      throw error
    }
    if (isLed) return { job }
    if (startsNow) lead()
    else {
      this.#queue.put(job)
      this.#pump()
    }
    return { job }
  }

  async find(executionId: string): Promise<JobInFlight | undefined> {
    const active = this.#active.get(executionId)
    if (active) return { ...active.job, status: 'processing' }
    const job = await this.#options.store.getJob(executionId)
    return job && { ...job, status: job.startedAt === null ? 'queued' : 'processing' }
  }

  /**
   * Ends a job, whether it runs or waits; resolves when that is on disk. False when there is none, or it has ended.
   * Rejects with STORAGE_UNAVAILABLE when its end could not be written: then it ends when it can.
   */
  async cancel(executionId: string): Promise<boolean> {
    const { runner, store } = this.#options
    const active = this.#active.get(executionId)
    if (active) {
      // Between two stages whoever leads it on sees the mark.
      const isEnding = runner.cancel(executionId) || active.isCancelled || !active.isWalked
      if (!isEnding) return false
      active.isCancelled = true
      if ((await active.ended.promise) === 'later')
        throw new AppError('STORAGE_UNAVAILABLE', cancelledLater, { retryAfterS: 1 })
      return true
    }
    const job = await store.getJob(executionId)
    if (!job || this.#active.has(executionId)) return job ? this.cancel(executionId) : false
    const ending: ActiveJob = { job, isCancelled: true, isWalked: true, ended: Promise.withResolvers() }
    this.#active.set(executionId, ending)
    // Out of the line first: a turn that came now would run what is being ended.
    this.#queue.remove(executionId)
    try {
      await endJob(this.#options, job, { code: 'CANCELLED' }, await stepsOf(this.#options, job))
      ending.ended.resolve('done')
      return true
    } catch (error) {
      ending.ended.resolve('later')
      this.#queue.putFirst(job)
      throw error
    } finally {
      this.#active.delete(executionId)
    }
  }

  /** Starts no more jobs. Those that run are the runner's to stop. */
  close(): void {
    this.#stopped = true
    this.#pause?.cancel()
  }

  /** After the runner has stopped: leaves everything in a state to go on from. */
  async stop(): Promise<void> {
    this.close()
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await this.#options.store.parkJobs(false)
  }

  #pump(): void {
    while (!this.#stopped && this.#pause === undefined && this.#running < this.#options.concurrency) {
      const job = this.#queue.take()
      if (this.#queue.isUneven || (!job && this.#queue.hasMore)) this.#refill()
      if (!job) return
      this.#begin(job)
      this.#start(job, () => resumeJob(this.#turnOf(job), job.executionId))
    }
  }

  #refill(): void {
    this.#queue.refill().then(
      () => this.#pump(),
      () => this.#pauseFor(retryMs),
    )
  }

  /** A job that has begun and is not on disk: it is over when it stops, which it does before it acts on anything. */
  async #letGo(executionId: string): Promise<void> {
    const active = this.#active.get(executionId)
    if (!active) return
    active.isUnwritten = true
    await active.ended.promise
  }

  #begin(job: JobFacts): void {
    this.#running += 1
    const { executionId } = job
    const isCancelled = this.#cancelled.delete(executionId)
    this.#active.set(executionId, { job, isCancelled, isWalked: false, ended: Promise.withResolvers() })
  }

  #end(executionId: string): void {
    this.#running -= 1
    this.#active.delete(executionId)
    if (this.#running === 0) this.#idle?.()
  }

  /** Never rejects: what goes wrong is tried again, or becomes the end of the job. */
  #start(job: JobFacts, lead: () => Promise<TurnEnd>): void {
    lead()
      .catch((error: unknown) => failJob(this.#options, job.executionId, error))
      .then((ending) => {
        const active = this.#active.get(job.executionId)
        const outcome = active?.isUnwritten ? 'done' : ending
        if (outcome === 'later' && active?.isCancelled) this.#cancelled.add(job.executionId)
        active?.ended.resolve(outcome)
        this.#end(job.executionId)
        if (outcome === 'later' && !this.#stopped) {
          this.#queue.putFirst(job)
          this.#pauseFor(retryMs)
        }
        this.#pump()
      })
  }

  #turnOf({ executionId }: JobFacts): Turn {
    const active = this.#active.get(executionId)
    if (!active) throw new Error(`The job ${executionId} was not begun`)
    return { ...this.#options, active, isStopped: () => this.#stopped }
  }

  #pauseFor(ms: number): void {
    if (this.#pause || this.#stopped) return
    this.#pause = this.#options.clock.setTimer(ms, () => {
      this.#pause = undefined
      this.#pump()
    })
  }
}

const retryMs = 1_000
const cancelledLater = 'The run is stopped; that it was cancelled could not be written yet.'
