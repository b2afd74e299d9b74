import { type Clock, sleep } from '../../domain/clock.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'

/** A recorded run that is to run again. */
export type RerunEntry = { logId: string; executionId: string; workflowId: string }

/** Everything that a re-run needs from outside. */
export type RerunTask = {
  workspaceId: string
  version: 'ran' | 'live' | 'draft'
  /** Runs that start in a second, at most. */
  perSecond: number
  /** The entries, oldest first. Throws `AppError` when they cannot be run again as a whole. */
  collect(signal: AbortSignal): Promise<readonly RerunEntry[]>
  /** Throws `AppError` when the re-run must end, because its user has lost access. Called before each run. */
  assertAllowed(): Promise<void>
  /** Starts one run and returns its execution ID. Throws `AppError` when this entry cannot run again. */
  run(entry: RerunEntry): Promise<string>
}

/**
 * A job that runs the entries of a filter again. Times are in epoch milliseconds.
 *
 * collecting → running: the entries are known.
 * collecting → failed: they cannot be run again as a whole; `error` says why.
 * running → done: every entry was started or refused.
 * running → failed: it may not go on; `error` says why.
 * collecting, running → cancelled: a user stopped it. Runs that have started go on.
 */
export type Rerun = Pick<RerunTask, 'workspaceId' | 'version' | 'perSecond'> & {
  id: string
  state: 'collecting' | 'running' | 'done' | 'cancelled' | 'failed'
  /** Null while the entries are collected. */
  total: number | null
  started: number
  /** Entries that could not run again. `problems` has the first of them, with the reasons. */
  refused: number
  problems: { logId: string; message: string }[]
  error: string | null
  createdAt: number
  endedAt: number | null
}

export type RerunsOptions = {
  clock: Clock
  isInFlight(executionId: string): boolean
}

/**
 * The re-runs of the service. They are in memory only: after a restart, a re-run no longer exists and starts nothing
 * more, because nobody can know whether its effects are still wanted. The runs that it started are in the log.
 */
export class Reruns {
  readonly #options: RerunsOptions
  /** In the order of creation. */
  readonly #jobs = new Map<string, { job: Rerun; aborter: AbortController }>()

  constructor(options: RerunsOptions) {
    this.#options = options
  }

  /** Throws CONFLICT when the workspace has a re-run that has not ended. */
  start(task: RerunTask): Rerun {
    const { workspaceId, version, perSecond } = task
    const other = this.findRunning(workspaceId)
    if (other) {
      throw new AppError('CONFLICT', `Another re-run of this workspace is in progress: ${other.id}. Stop it first.`)
    }
    const createdAt = this.#options.clock.now()
    const counts = { total: null, started: 0, refused: 0, problems: [], error: null, endedAt: null }
    const job: Rerun = { id: newId(), workspaceId, version, perSecond, state: 'collecting', createdAt, ...counts }
    const aborter = new AbortController()
    this.#jobs.set(job.id, { job, aborter })
    this.#forgetOldest()
    void this.#work(job, task, aborter.signal)
    return job
  }

  find(id: string): Rerun | undefined {
    return this.#jobs.get(id)?.job
  }

  /** The re-run of a workspace that has not ended. */
  findRunning(workspaceId: string): Rerun | undefined {
    return this.#jobs.values().find(({ job }) => job.workspaceId === workspaceId && job.endedAt === null)?.job
  }

  /** Starts nothing more. False when the re-run has ended. */
  cancel(id: string): boolean {
    const found = this.#jobs.get(id)
    if (!found || found.job.endedAt !== null) return false
    this.#end(found.job, 'cancelled')
    found.aborter.abort(cancelled)
    return true
  }

  stop(): void {
    for (const id of this.#jobs.keys()) this.cancel(id)
  }

  /** Never rejects. */
  async #work(job: Rerun, task: RerunTask, signal: AbortSignal): Promise<void> {
    try {
      const entries = await task.collect(signal)
      if (signal.aborted) return
      job.total = entries.length
      job.state = 'running'
      await this.#runAll(job, task, entries, signal)
      if (!signal.aborted) this.#end(job, 'done')
    } catch (cause) {
      if (signal.aborted) return
      job.error = messageOf(cause)
      this.#end(job, 'failed')
    }
  }

  async #runAll(job: Rerun, task: RerunTask, entries: readonly RerunEntry[], signal: AbortSignal): Promise<void> {
    const { clock, isInFlight } = this.#options
    const inFlight = new Set<string>()
    const everyMs = 1_000 / task.perSecond
    const hasRoom = () => {
      for (const executionId of inFlight) if (!isInFlight(executionId)) inFlight.delete(executionId)
      return inFlight.size < inFlightMax
    }
    for (const entry of entries) {
      const startedAt = clock.monotonic()
      let outcome: Outcome = 'busy'
      while (outcome === 'busy') {
        while (!hasRoom()) await sleep(clock, busyMs, signal)
        signal.throwIfAborted()
        outcome = await runOne(job, task, entry)
        if (outcome === 'busy') await sleep(clock, busyMs, signal)
      }
      if (outcome) inFlight.add(outcome.executionId)
      const restMs = startedAt + everyMs - clock.monotonic()
      if (restMs > 0) await sleep(clock, restMs, signal)
    }
  }

  #end(job: Rerun, state: Rerun['state']): void {
    job.state = state
    job.endedAt = this.#options.clock.now()
  }

  #forgetOldest(): void {
    for (const [id, { job }] of this.#jobs) {
      if (this.#jobs.size <= jobsMax) return
      if (job.endedAt !== null) this.#jobs.delete(id)
    }
  }
}

/** `busy`: the service has no room for another run. Undefined: the entry was refused. */
type Outcome = { executionId: string } | 'busy' | undefined

async function runOne(job: Rerun, task: RerunTask, entry: RerunEntry): Promise<Outcome> {
  try {
    await task.assertAllowed()
  } catch (cause) {
    if (isBusy(cause)) return 'busy'
    throw cause
  }
  try {
    const executionId = await task.run(entry)
    job.started += 1
    return { executionId }
  } catch (cause) {
    if (isBusy(cause)) return 'busy'
    job.refused += 1
    if (job.problems.length < problemsMax) job.problems.push({ logId: entry.logId, message: messageOf(cause) })
    return undefined
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof AppError && busyCodes.has(cause.code)
}

const cancelled = Symbol('cancelled')
/** Other callers need slots too. */
const inFlightMax = 20
const busyMs = 500
const busyCodes: ReadonlySet<string> = new Set(['OVERLOADED', 'STORAGE_UNAVAILABLE'])
const problemsMax = 20
/** Re-runs that are remembered, ended ones included. */
const jobsMax = 1_000
/** The most entries of one re-run. */
export const rerunEntriesMax = 10_000
