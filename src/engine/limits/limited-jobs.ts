import type { DebounceStart } from '../../domain/run/debounce.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Job, JobFacts } from '../../domain/run/job.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { Debouncer } from './debouncer.ts'
import type { Place } from './start-group.ts'
import type { Entry, LimitedStart, Starts } from './start-limiter.ts'

export type LimitedJobsOptions = {
  limiter: Starts
  debouncer: Debouncer
  /** The limits of the active version; undefined for a workflow without limits. */
  limitsOf(workflowId: string): StartLimits | undefined | Promise<StartLimits | undefined>
}

/**
 * `isParked`: the job has no place yet, and is parked once `park` is called. `joined`: there is no job, because it was
 * debounced: this earlier one has its input.
 */
export type JobEntry = { isParked: boolean; joined?: string }
const free: JobEntry = { isParked: false }
type Replace = (executionId: string) => Promise<boolean>

/** Puts a job into the queue. */
type Ready = (job: JobFacts) => void

/**
 * Asynchronous runs within the limits of their workflows. A job that has a place keeps it until its turn ends for good;
 * a pause ends it, too. A job without a place is parked: it is queued on disk, and comes into the queue when a place is
 * free.
 */
export class LimitedJobs {
  readonly #options: LimitedJobsOptions
  /** By execution ID. */
  readonly #places = new Map<string, Place>()
  readonly #parked = new Map<string, ParkedJob>()
  #ready: Ready = () => undefined
  #isActive: (executionId: string) => boolean = () => false

  constructor(options: LimitedJobsOptions) {
    this.#options = options
  }

  /** `ready`: called when a parked job has a place. `isActive`: whether a job is in its turn. */
  open(ready: Ready, isActive: (executionId: string) => boolean): void {
    this.#ready = ready
    this.#isActive = isActive
  }

  /** Gives up everything of jobs that are in no turn, because other processes take them over. */
  giveUp(): void {
    const waiting = [...this.#parked.keys(), ...this.#places.keys()]
    for (const executionId of waiting) if (!this.#isActive(executionId)) this.leave(executionId)
  }

  /** Jobs that wait for a place. */
  get parked(): number {
    return this.#parked.size
  }

  isParked(executionId: string): boolean {
    return this.#parked.has(executionId)
  }

  /**
   * Applies the limits to a new job. `replace`: replaces the input of an earlier job, if that has not begun. Throws, or
   * rejects, like `Starts.admit`.
   */
  enter(start: LimitedStart, replace: Replace): JobEntry | Promise<JobEntry> {
    const found = this.#options.limitsOf(start.workflowId)
    if (found instanceof Promise) return found.then((limits) => (limits ? this.#limit(start, limits, replace) : free))
    return found ? this.#limit(start, found, replace) : free
  }

  #limit(start: LimitedStart, limits: StartLimits, replace: Replace): JobEntry | Promise<JobEntry> {
    const { executionId, workflowId, trigger, input } = start
    const { debounce } = limits
    // Files belong to their run, so a start with files is not debounced.
    if (debounce && (input.files?.length ?? 0) === 0) {
      return this.#debounce({ ...debounce, workflowId, executionId, key: limits.keyOf(trigger, input) }, replace)
    }
    const entry = this.#enter(start, (granted) => this.#options.limiter.admit(start, limits, granted))
    if (entry instanceof Promise) return entry.then((hasPlace) => ({ isParked: !hasPlace }))
    return { isParked: !entry }
  }

  async #debounce(start: Omit<DebounceStart, 'now'>, replace: Replace): Promise<JobEntry> {
    const { debouncer } = this.#options
    const { executionId } = start
    for (;;) {
      const joined = await debouncer.join(start)
      if (joined.executionId === executionId) {
        this.#parked.set(
          executionId,
          parkedJob(() => void debouncer.forget(executionId)),
        )
        debouncer.watch(executionId, joined.dueInMs, () => this.#due(executionId))
        return { isParked: true }
      }
      await this.#parked.get(joined.executionId)?.written.promise
      if (await replace(joined.executionId)) return { isParked: false, joined: joined.executionId }
      // It has begun or was cancelled meanwhile.
      await debouncer.forget(joined.executionId)
    }
  }

  #due(executionId: string): void {
    const parked = this.#parked.get(executionId)
    if (!parked) return
    parked.isDue = true
    this.#wake(executionId)
  }

  /** Whether a job whose turn has come may run. Otherwise it is parked when its turn has ended. */
  async mayRun(job: JobFacts & Pick<Job, 'state' | 'trigger'>, readInput: () => TriggerInput): Promise<boolean> {
    const { executionId, workflowId, trigger, startedAt } = job
    if (this.#places.has(executionId)) return true
    const limits = await this.#options.limitsOf(workflowId)
    if (!limits) return true
    const hasStarted = startedAt !== null || job.state !== 'queued'
    const start = { executionId, workflowId, trigger, input: readInput(), hasStarted }
    return this.#enter(start, (granted) => this.#options.limiter.readmit(start, limits, granted))
  }

  /** To be called when a job starts. */
  begin(executionId: string): void {
    this.#places.get(executionId)?.begin()
  }

  /** To be called when a job without a place is on disk, and in no turn. */
  park(job: JobFacts): void {
    const parked = this.#parked.get(job.executionId)
    if (!parked) return
    parked.job = job
    parked.written.resolve()
    this.#wake(job.executionId)
  }

  /** Gives up the place of a job, or its wait for one. False when it neither has one nor waits. */
  leave(executionId: string): boolean {
    const place = this.#places.get(executionId)
    const parked = this.#parked.get(executionId)
    this.#places.delete(executionId)
    this.#parked.delete(executionId)
    place?.release()
    parked?.leave()
    parked?.written.resolve()
    return parked !== undefined
  }

  #enter(
    { executionId }: LimitedStart,
    enter: (granted: (place: Place) => void) => Entry | Promise<Entry>,
  ): boolean | Promise<boolean> {
    const granted = (place: Place) => {
      this.#places.set(executionId, place)
      this.#wake(executionId)
    }
    const entered = (entry: Entry) => {
      if (entry.place) this.#places.set(executionId, entry.place)
      // It may have been granted meanwhile.
      else this.#parked.set(executionId, parkedJob(entry.leave))
      return entry.place !== undefined
    }
    const entry = enter(granted)
    return entry instanceof Promise ? entry.then(entered) : entered(entry)
  }

  #wake(executionId: string): void {
    const { job, isDue } = this.#parked.get(executionId) ?? {}
    if (!job || !(isDue || this.#places.has(executionId))) return
    this.#parked.delete(executionId)
    this.#ready(job)
  }
}

/** `job`: set once it may be put into the queue. `isDue`: it was debounced, and asks for a place in its turn. */
type ParkedJob = {
  leave(): void
  job: JobFacts | undefined
  isDue: boolean
  /** Resolves when it is on disk, or is not parked any more. */
  written: PromiseWithResolvers<void>
}

function parkedJob(leave: () => void): ParkedJob {
  return { leave, job: undefined, isDue: false, written: Promise.withResolvers() }
}
