import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { FairShare } from '../../domain/fair-share.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { RunEnd } from '../run/run-end.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { Place } from './start-group.ts'
import type { Entry, Starts } from './start-limiter.ts'

export type LimitedExecutionOptions = {
  limiter: Starts
  clock: Clock
  execute(request: RunRequest): Promise<RunEnd>
  /** The time that a caller waits for its run. */
  timeoutMs: number
  /** Callers that may wait for a place, of all workflows. Workspaces share them. */
  waitingMax: number
  shareFactor: number
}

/** Runs with a waiting caller, within the limits of their workflows. */
export class LimitedExecution {
  readonly #options: LimitedExecutionOptions
  readonly #waiting: FairShare
  readonly #stops = new Set<(reason: AppError) => void>()

  constructor(options: LimitedExecutionOptions) {
    this.#options = options
    this.#waiting = new FairShare({ total: options.waitingMax, factor: options.shareFactor })
  }

  execute(request: RunRequest): Promise<RunEnd> {
    const { startLimits } = request.plan
    // A caller that waits for its run cannot be debounced: chats, and forms that show the response.
    return startLimits && isLimiting(startLimits) ? this.#execute(request, startLimits) : this.#options.execute(request)
  }

  /** Sends away the callers that wait for a place. */
  stop(): void {
    const reason = new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
    for (const stop of [...this.#stops]) stop(reason)
  }

  /** Costs a run that need not wait no promise more than necessary. */
  #execute(given: RunRequest, limits: StartLimits): Promise<RunEnd> {
    const { limiter, clock } = this.#options
    const request = given.executionId === undefined ? { ...given, executionId: newExecutionId() } : given
    const start = request as RunRequest & { executionId: string }
    const granted = Promise.withResolvers<Place>()
    const askedAt = clock.monotonic()
    try {
      const entering = limiter.admit(start, limits, granted.resolve)
      if (!(entering instanceof Promise) && entering.place) return this.#run(request, limits, entering.place)
      return this.#runLater(request, limits, entering, granted, askedAt)
    } catch (refusal) {
      return Promise.reject(refusal)
    }
  }

  async #runLater(
    request: RunRequest,
    limits: StartLimits,
    entering: Entry | Promise<Entry>,
    granted: PromiseWithResolvers<Place>,
    askedAt: number,
  ): Promise<RunEnd> {
    const entry = await entering
    const place = entry.place ?? (await this.#wait(request, granted, entry.leave))
    return await this.#run({ ...request, queuedMs: this.#options.clock.monotonic() - askedAt }, limits, place)
  }

  #run(request: RunRequest, { beyond }: StartLimits, place: Place): Promise<RunEnd> {
    place.begin()
    const isReplaced = () => place.isReplaced
    const running = this.#options.execute(beyond === 'replace' ? { ...request, isReplaced } : request)
    running.then(place.release, place.release)
    return running
  }

  /** Rejects with EXECUTION_TIMEOUT when the time of the caller is over, and when it disconnects. */
  async #wait(request: RunRequest, granted: PromiseWithResolvers<Place>, leave: () => void): Promise<Place> {
    const { clock, timeoutMs } = this.#options
    const { workspaceId, visitor, plan } = request
    if (!this.#waiting.hasRoom(workspaceId, visitor)) {
      leave()
      throw new AppError('OVERLOADED', 'Too many callers wait for runs of limited workflows. Try again in a moment.')
    }
    this.#waiting.take(workspaceId, visitor)
    const waitMs = Math.min(timeoutMs, plan.limits.timeoutMs ?? timeoutMs)
    // At once: later, it could be granted a place that nobody would release.
    const stop = (reason: AppError) => {
      leave()
      granted.reject(reason)
    }
    const timer = clock.setTimer(waitMs, () => stop(timedOut(waitMs)))
    const signal = request.callerSignal?.()
    const gone = () => stop(callerGone())
    if (signal?.aborted) gone()
    else signal?.addEventListener('abort', gone, { once: true })
    this.#stops.add(stop)
    try {
      return await granted.promise
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', gone)
      this.#stops.delete(stop)
      this.#waiting.release(workspaceId, visitor)
    }
  }
}

function isLimiting({ concurrency, rate }: StartLimits): boolean {
  return Number.isFinite(concurrency) || rate !== undefined
}

function timedOut(waitMs: number): AppError {
  const message = `The run waited for its turn longer than ${waitMs} ms, the time that it may take: its workflow has reached its limits.`
  return new AppError('EXECUTION_TIMEOUT', message)
}

function callerGone(): AppError {
  return new AppError('EXECUTION_TIMEOUT', 'The caller closed the connection before the run started.')
}
