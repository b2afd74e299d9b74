import type { DebounceStart } from '../../domain/run/debounce.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Job, JobFacts } from '../../domain/run/job.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { Debouncer } from './debouncer.ts'
import type { Slot } from './start-group.ts'
import type { Entry, LimitedStart, Starts } from './start-limiter.ts'

export type LimitedJobsOptions = {
  limiter: Starts
  debouncer: Debouncer
  /** The limits of the active version; undefined for a workflow without limits. */
  limitsOf(workflowId: string): StartLimits | undefined | Promise<StartLimits | undefined>
}

/**
 * `isParked`: the job has no slot, so its owner must call `park`. `joined`: the start was debounced and has no job of
 * its own; this earlier job has its input.
 */
export type JobEntry = { isParked: boolean; joined?: string }
const free: JobEntry = { isParked: false }
type Replace = (executionId: string) => Promise<boolean>

/** Puts a job into the queue. */
type Ready = (job: JobFacts) => void

/**
 * Applies the limits of workflows to asynchronous runs. A job with a slot keeps it until it ends or pauses. A job
 * without a slot is parked: it is on disk as queued, and enters the queue in memory when it gets a slot.
 */
export class LimitedJobs {
  readonly #options: LimitedJobsOptions
  /** By execution ID. */
  readonly #slots = new Map<string, Slot>()
  readonly #parked = new Map<string, ParkedJob>()
  #ready: Ready = () => undefined
  #isActive: (executionId: string) => boolean = () => false

  constructor(options: LimitedJobsOptions) {
    this.#options = options
  }

  /** `ready`: called when a parked job gets a slot. `isActive`: whether a job is in its turn. */
  open(ready: Ready, isActive: (executionId: string) => boolean): void {
    this.#ready = ready
    this.#isActive = isActive
  }

  /** Gives up the slots and the waits of all jobs outside of a turn, because other processes take these jobs over. */
  giveUp(): void {
    const waiting = [...this.#parked.keys(), ...this.#slots.keys()]
    for (const executionId of waiting) if (!this.#isActive(executionId)) this.leave(executionId)
  }

  /** How many jobs wait for a slot. */
  get parked(): number {
    return this.#parked.size
  }

  isParked(executionId: string): boolean {
    return this.#parked.has(executionId)
  }

  /** Whether a workflow limits its starts. */
  async isLimited(workflowId: string): Promise<boolean> {
    return (await this.#options.limitsOf(workflowId)) !== undefined
  }

  /**
   * Applies the limits to a new job. `replace`: replaces the input of an earlier job unless it has begun. Throws or
   * rejects like `Starts.admit`.
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
    if (entry instanceof Promise) return entry.then((hasSlot) => ({ isParked: !hasSlot }))
    return { isParked: !entry }
  }

  async #debounce(start: Omit<DebounceStart, 'now'>, replace: Replace): Promise<JobEntry> {
    const { debouncer } = this.#options
    const { executionId } = start
    for (let looks = 1; ; looks += 1) {
      const joined = await debouncer.join(start)
      if (joined.executionId === executionId) {
        this.#parked.set(
          executionId,
          parkedJob(() => void debouncer.forget(executionId)),
        )
        debouncer.watch(executionId, joined.dueInMs, () => this.#due(executionId))
        return { isParked: true }
      }
      const own = this.#parked.get(joined.executionId)
      await own?.written.promise
      if (await replace(joined.executionId)) return { isParked: false, joined: joined.executionId }
      // The earlier job has begun, or was cancelled. Or another process is still writing it.
      if (own || looks >= looksMax) await debouncer.forget(joined.executionId)
      else await debouncer.moment()
    }
  }

  #due(executionId: string): void {
    const parked = this.#parked.get(executionId)
    if (!parked) return
    parked.isDue = true
    this.#wake(executionId)
  }

  /** Whether a job whose turn has come may run. If not, the job is parked at the end of its turn. */
  async mayRun(job: JobFacts & Pick<Job, 'state' | 'trigger'>, readInput: () => TriggerInput): Promise<boolean> {
    const { executionId, workflowId, trigger, startedAt } = job
    if (this.#slots.has(executionId)) return true
    const limits = await this.#options.limitsOf(workflowId)
    if (!limits) return true
    const hasStarted = startedAt !== null || job.state !== 'queued'
    const start = { executionId, workflowId, trigger, input: readInput(), hasStarted }
    return this.#enter(start, (granted) => this.#options.limiter.readmit(start, limits, granted))
  }

  /** Call this when a job starts. */
  begin(executionId: string): void {
    this.#slots.get(executionId)?.begin()
  }

  /** Call this when a job without a slot is on disk and outside of a turn. */
  park(job: JobFacts): void {
    const parked = this.#parked.get(job.executionId)
    if (!parked) return
    parked.job = job
    parked.written.resolve()
    this.#wake(job.executionId)
  }

  /** Gives up the slot of a job, or its wait for one. Returns whether it waited. */
  leave(executionId: string): boolean {
    const slot = this.#slots.get(executionId)
    const parked = this.#parked.get(executionId)
    this.#slots.delete(executionId)
    this.#parked.delete(executionId)
    slot?.release()
    parked?.leave()
    parked?.written.resolve()
    return parked !== undefined
  }

  #enter(
    { executionId }: LimitedStart,
    enter: (granted: (slot: Slot) => void) => Entry | Promise<Entry>,
  ): boolean | Promise<boolean> {
    const granted = (slot: Slot) => {
      this.#slots.set(executionId, slot)
      this.#wake(executionId)
    }
    const entered = (entry: Entry) => {
      if (entry.slot) this.#slots.set(executionId, entry.slot)
      // A slot may be granted before this line: then `granted` has stored it.
      else this.#parked.set(executionId, parkedJob(entry.leave))
      return entry.slot !== undefined
    }
    const entry = enter(granted)
    return entry instanceof Promise ? entry.then(entered) : entered(entry)
  }

  #wake(executionId: string): void {
    const { job, isDue } = this.#parked.get(executionId) ?? {}
    if (!job || !(isDue || this.#slots.has(executionId))) return
    this.#parked.delete(executionId)
    this.#ready(job)
  }
}

/** How often to look for a job that another process is writing. After that, the process is assumed to have failed. */
const looksMax = 100

/** `job`: set when it may enter the queue. `isDue`: the debounce is over, and the job asks for a slot in its turn. */
type ParkedJob = {
  leave(): void
  job: JobFacts | undefined
  isDue: boolean
  /** Resolves when the job is on disk or no longer parked. */
  written: PromiseWithResolvers<void>
}

function parkedJob(leave: () => void): ParkedJob {
  return { leave, job: undefined, isDue: false, written: Promise.withResolvers() }
}
