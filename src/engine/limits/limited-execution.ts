import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import { FairShare } from '../../domain/fair-share.ts'
import { newExecutionId } from '../../domain/ids.ts'
import type { StartLimits } from '../compile/start-limits.ts'
import type { RunEnd } from '../run/run-end.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { Slot } from './start-group.ts'
import type { Entry, Starts } from './start-limiter.ts'

export type LimitedExecutionOptions = {
  limiter: Starts
  clock: Clock
  execute(request: RunRequest): Promise<RunEnd>
  /** How long a caller waits for its run, the time in the queue included. */
  timeoutMs: number
  /** How many callers of all workflows may wait for a slot. Workspaces share this number fairly. */
  waitingMax: number
  shareFactor: number
}

/** Applies the limits of workflows to runs with a waiting caller. */
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
    // `debounce` is ignored here: these callers, chats and forms that show the response, need the end of their own run.
    return startLimits && isLimiting(startLimits) ? this.#execute(request, startLimits) : this.#options.execute(request)
  }

  /** Rejects the callers that wait for a slot with OVERLOADED. */
  stop(): void {
    const reason = new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
    for (const stop of [...this.#stops]) stop(reason)
  }

  /** Creates no further promises for a run that need not wait. */
  #execute(given: RunRequest, limits: StartLimits): Promise<RunEnd> {
    const { limiter, clock } = this.#options
    const request = given.executionId === undefined ? { ...given, executionId: newExecutionId() } : given
    const start = request as RunRequest & { executionId: string }
    const granted = Promise.withResolvers<Slot>()
    const askedAt = clock.monotonic()
    try {
      const entering = limiter.admit(start, limits, granted.resolve)
      if (!(entering instanceof Promise) && entering.slot) return this.#run(request, limits, entering.slot)
      return this.#runLater(request, limits, entering, granted, askedAt)
    } catch (refusal) {
      return Promise.reject(refusal)
    }
  }

  async #runLater(
    request: RunRequest,
    limits: StartLimits,
    entering: Entry | Promise<Entry>,
    granted: PromiseWithResolvers<Slot>,
    askedAt: number,
  ): Promise<RunEnd> {
    const entry = await entering
    const slot = entry.slot ?? (await this.#wait(request, granted, entry.leave))
    return await this.#run({ ...request, queuedMs: this.#options.clock.monotonic() - askedAt }, limits, slot)
  }

  #run(request: RunRequest, { beyond }: StartLimits, slot: Slot): Promise<RunEnd> {
    slot.begin()
    const isReplaced = () => slot.isReplaced
    const running = this.#options.execute(beyond === 'replace' ? { ...request, isReplaced } : request)
    running.then(slot.release, slot.release)
    return running
  }

  /** Rejects with EXECUTION_TIMEOUT when the caller has waited too long, and when it disconnects. */
  async #wait(request: RunRequest, granted: PromiseWithResolvers<Slot>, leave: () => void): Promise<Slot> {
    const { clock, timeoutMs } = this.#options
    const { workspaceId, visitor, plan } = request
    if (!this.#waiting.hasRoom(workspaceId, visitor)) {
      leave()
      // It may have a slot already.
      void granted.promise.then((slot) => slot.release())
      throw new AppError(
        'OVERLOADED',
        'Too many callers are waiting because of the limits of workflows. Try again in a moment.',
      )
    }
    this.#waiting.take(workspaceId, visitor)
    const waitMs = Math.min(timeoutMs, plan.limits.timeoutMs ?? timeoutMs)
    // Leave before rejecting: otherwise the start could be granted a slot that nobody releases.
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
  const message =
    `The run did not start within ${waitMs} ms, because its workflow has reached its limits ` +
    '(limits.concurrency or limits.rate).'
  return new AppError('EXECUTION_TIMEOUT', message)
}

function callerGone(): AppError {
  return new AppError('EXECUTION_TIMEOUT', 'The caller closed the connection before the run started.')
}
