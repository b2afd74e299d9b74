import type { Environment } from '../../domain/account/environment.ts'
import { AppError } from '../../domain/errors.ts'
import { FairShare } from '../../domain/fair-share.ts'
import { newExecutionId } from '../../domain/ids.ts'
import { limitSettings } from '../../domain/limits.ts'
import type { Span } from '../../domain/run/log.ts'
import type { NewPause, StoredPause } from '../../domain/run/pause.ts'
import { observers, type RunObserver } from '../../domain/run/run-observer.ts'
import { triggerOf } from '../../domain/workflow/workflow.ts'
import type { RunFacts } from '../block.ts'
import { callable, describe } from './callable.ts'
import { CancellationScope } from './cancellation-scope.ts'
import type { ScopeEnd } from './contracts.ts'
import { Budget, type Capabilities, Run } from './run.ts'
import { runAlone } from './run-alone.ts'
import { finish, hasFailed, type RunEnd, rootSpan, stopped } from './run-end.ts'
import { RunMemory } from './run-memory.ts'
import { inSight, reported } from './run-observation.ts'
import { Paused, RunPauses } from './run-pauses.ts'
import type { RunRequest } from './run-request.ts'
import type { RunnerOptions } from './runner-options.ts'
import { StepHistory } from './step-history.ts'
import { runWorkflow } from './sub-run.ts'
import { timedOut, timeLeft } from './time-limit.ts'
import { walkRun } from './walk/walk.ts'

/** Starts runs, shares the slots for synchronous runs between workspaces, and stops runs. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #capabilities: Capabilities
  readonly #running = new Map<string, Run>()
  /** The memory for the values of all runs, jobs included. */
  readonly memory: RunMemory
  /** The slots of synchronous runs, by workspace and visitor. */
  readonly #slots: FairShare
  /** All runs in flight, jobs included. */
  #count = 0
  #stopping = false
  #idle: (() => void) | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
    const { runsMax, runsBytesMax, shareFactor } = options.capabilities.limits
    this.memory = new RunMemory({ bytesMax: runsBytesMax, shareFactor })
    this.#slots = new FairShare({ total: runsMax, factor: shareFactor })
    this.#capabilities = {
      ...options.capabilities,
      memory: this.memory,
      runWorkflow: (call) => runWorkflow(call, this.#capabilities, options.deploymentOf),
      describeWorkflow: async (workflowId, workspaceId) =>
        describe(callable(workflowId, workspaceId, await options.deploymentOf(workflowId))),
    }
  }

  /** The number of runs with a waiting caller, so without jobs. */
  get inFlight(): number {
    return this.#slots.used
  }

  /** A run in flight, with its trace so far. */
  find(executionId: string): (RunFacts & { startedAt: number; root: Span | undefined }) | undefined {
    const run = this.#running.get(executionId)
    return run && { ...run.facts, startedAt: run.startedAt, root: run.root }
  }

  /** The runs of a workspace in flight, without asynchronous and manual ones. */
  runsOf(workspaceId: string): (RunFacts & { startedAt: number; workflowName: string })[] {
    const own = [...this.#running.values()].filter(({ facts, isDurable }) => {
      return facts.workspaceId === workspaceId && facts.trigger !== 'manual' && !isDurable
    })
    return own.map(({ facts, startedAt, plan }) => ({ ...facts, startedAt, workflowName: plan.document.name }))
  }

  /** Adds an observer to a run in flight. False when the run is not in flight. */
  observe(executionId: string, observer: RunObserver): boolean {
    const run = this.#running.get(executionId)
    if (!run?.root) return false
    run.budget.observer = observers(run.budget.observer, observer)
    observer.began?.(inSight(run, run.root))
    return true
  }

  /** Cancels a run, which ends as soon as its blocks have stopped. False when it is not in flight. */
  cancel(executionId: string, code: 'CANCELLED' | 'CLIENT_CLOSED' = 'CANCELLED'): boolean {
    const run = this.#running.get(executionId)
    return run?.fail(stopped(code)) ?? false
  }

  /** Throws OVERLOADED when the workspace or its visitor may not take another slot, or when the service is stopping. */
  assertFree(workspaceId: string, visitor?: string): void {
    if (this.#stopping)
      throw new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
    if (this.#slots.hasRoom(workspaceId, visitor)) return
    const max = this.#capabilities.limits.runsMax
    const message =
      this.inFlight >= max
        ? `${max} runs are in progress, the most that ${limitSettings.runsMax} allows. Try again in a moment.`
        : 'The workspace, or the address of this visitor, already has its share of the slots for runs. ' +
          `Try again in a moment, or raise ${limitSettings.runsMax} or ${limitSettings.shareFactor}.`
    throw new AppError('OVERLOADED', message, { retryAfterS: 1 })
  }

  /**
   * Runs a workflow and writes its log entry. Rejects with OVERLOADED, when the entry cannot be written, or for a bug.
   */
  execute(request: RunRequest): Promise<RunEnd> {
    const { workspaceId, visitor } = request
    try {
      this.assertFree(workspaceId, visitor)
    } catch (refusal) {
      return Promise.reject(refusal)
    }
    this.#slots.take(workspaceId, visitor)
    return this.#execute(request, true)
  }

  /** Does the same for a job. The caller limits the number of jobs. Nothing is written for a suspended run. */
  executeJob(request: RunRequest & { history: StepHistory }): Promise<RunEnd> {
    return this.#execute(request, false)
  }

  async #execute(request: RunRequest, hasSlot: boolean): Promise<RunEnd> {
    this.#count += 1
    let end: RunEnd | undefined
    let own: Run | undefined
    try {
      const walked = this.run(request)
      end = walked instanceof Promise ? await walked : walked
      own = this.#running.get(end.record.executionId)
      const { record, suspension, observer } = end
      if (suspension) {
        await this.#keepPaused(request, end)
        observer?.lost?.(suspension.cause)
      } else {
        const { claim, completeClaim } = request
        const kept = hasFailed(end) ? undefined : claim
        const completed = kept && completeClaim ? await completeClaim(kept, end) : kept
        const written = this.#options.record(record, completed)
        const run = this.#running.get(record.executionId)
        // An observer may still be added while the entry is being written.
        await (run || observer ? reported(written, record, () => run?.observer ?? observer) : written)
      }
      return end
    } finally {
      // Only now: between its last block and its log entry, a run must still be found here.
      // A paused run may have continued already, as a job.
      if (end && this.#running.get(end.record.executionId) === own) {
        this.#running.delete(end.record.executionId)
        this.memory.release(end.record)
      }
      if (hasSlot) this.#slots.release(request.workspaceId, request.visitor)
      this.#count -= 1
      if (this.#count === 0) this.#idle?.()
    }
  }

  /** Hands the end of a pause to its run, if the run is in flight here. */
  answered(ended: StoredPause): void {
    this.#running.get(ended.executionId)?.budget.pauses?.answered(ended)
  }

  async #openPause(run: Run, request: RunRequest, pause: NewPause): Promise<void> {
    const { history } = run
    const held = history?.isHeld ? await history.heldTexts() : undefined
    const write = await this.#options.openPause?.({ request, facts: run.facts, startedAt: run.startedAt, held, pause })
    if (!held || !write) return
    history?.release(write, held.length)
    run.budget.acceptedAt = run.startedAt
  }

  /** Keeps a run that paused while its caller was waiting. */
  async #keepPaused(request: RunRequest, { record, suspension, heldHistory }: RunEnd): Promise<void> {
    if (!(suspension?.cause instanceof Paused) || request.history) return
    await this.#options.pause?.({ request, record, history: heldHistory, pauses: suspension.cause.pauses })
  }

  /** Runs a workflow without a log entry. Synchronous when no block has to wait. */
  run(request: RunRequest): RunEnd | Promise<RunEnd> {
    const environment = this.#options.environmentOf(request.workspaceId)
    if (!(environment instanceof Promise)) return this.#walk(request, environment)
    return environment.then((loaded) => this.#walk(request, loaded))
  }

  /**
   * Starts no more runs and waits for those in flight. After `graceMs` it suspends the jobs and cancels all other runs.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true
    const timer = this.#capabilities.clock.setTimer(graceMs, () => {
      for (const run of [...this.#running.values()]) {
        if (run.isDurable) run.suspend(stopping)
        else run.fail(stopped('CANCELLED', 'The service was stopped before the run ended.'))
      }
    })
    if (this.#count > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    timer.cancel()
  }

  #walk(request: RunRequest, environment: Environment): RunEnd | Promise<RunEnd> {
    const { plan, workflowId, workspaceId, trigger, input } = request
    const history = request.history ?? this.#heldHistory(request)
    const executionId = request.executionId ?? newExecutionId()
    // As late as possible: from here on, new observers find the run in flight.
    const observer = request.observer ?? (request.history && this.#options.awaiting?.(executionId))
    const run = new Run(
      {
        facts: { executionId, workflowId, workspaceId, trigger: triggerOf(trigger) },
        ...{ plan, input, depth: 0, place: '', callerId: null },
        environment: history?.environmentWith(environment) ?? environment,
        budget: new Budget({ workflowId, files: input.files }, observer),
        cancellation: new CancellationScope(),
        history,
        partial: request.partial,
        startedAt: request.startedAt,
      },
      this.#capabilities,
    )
    run.budget.outermost = run
    if (request.inputBytes !== undefined) run.budget.otherBytes = request.inputBytes
    if (history) {
      // Start with the recorded cost, and record further costs: each counts once, even if blocks run twice.
      run.budget.cost = history.cost
      run.budget.costs = history
      run.budget.pauses = this.#pausesOf(run, request)
    }
    if (request.startedAt !== undefined && timeLeft(request, this.#capabilities) <= 0)
      run.fail(timedOut(request, this.#capabilities.limits))
    if (request.isReplaced?.()) run.fail(stopped('CANCELLED'))
    const root = rootSpan(run)
    if (observer?.began) observer.began(inSight(run, root))
    const ending = request.partial?.only
      ? runAlone(run, request.partial.only, root)
      : walkRun(run, request.entry ?? plan.triggers.get(trigger)?.node, root)
    if (!(ending instanceof Promise)) return finish(run, root, request, ending)
    return this.#wait(run, root, request, ending)
  }

  async #wait(run: Run, root: Span, request: RunRequest, ending: Promise<ScopeEnd>): Promise<RunEnd> {
    const timer = this.#capabilities.clock.setTimer(timeLeft(request, this.#capabilities), () =>
      run.fail(timedOut(request, this.#capabilities.limits)),
    )
    const signal = request.callerSignal?.()
    const onCallerGone = () => request.goesOnAlone?.() || run.fail(stopped('CLIENT_CLOSED'))
    if (signal?.aborted) onCallerGone()
    else signal?.addEventListener('abort', onCallerGone, { once: true })
    this.#running.set(run.facts.executionId, run)
    try {
      return finish(run, root, request, await ending)
    } catch (bug) {
      this.#running.delete(run.facts.executionId)
      this.memory.release(run.facts)
      run.observer?.lost?.(bug)
      throw bug
    } finally {
      signal?.removeEventListener('abort', onCallerGone)
      timer.cancel()
    }
  }

  /** The history of a run with a waiting caller that may pause. A manual run has no version to continue with. */
  #heldHistory({ plan, trigger, partial }: RunRequest): StepHistory | undefined {
    const canPause = plan.mayPause && trigger !== 'manual' && !partial && this.#options.pause !== undefined
    return canPause ? new StepHistory([], undefined, undefined, this.#capabilities.inSlices) : undefined
  }

  #pausesOf(run: Run, request: RunRequest): RunPauses {
    const { clock, limits } = this.#capabilities
    return new RunPauses({
      clock,
      inMemoryMs: limits.pauseInMemoryMs,
      known: request.knownPauses ?? [],
      recorded: () => run.history?.pauses ?? [],
      callerWaitsUntil: request.history ? undefined : clock.now() + timeLeft(request, this.#capabilities),
      suspend: (cause) => run.suspend(cause),
      admit: async () => await this.#options.admitPause?.(run.facts.workspaceId),
      open: this.#options.openPause && ((pause) => this.#openPause(run, request, pause)),
      // The next turn writes it again.
      resumed: async (ended) => {
        await this.#options.resumed?.(run.facts, ended).catch((cause: unknown) => run.suspend(cause))
      },
      links: this.#options.sealPauses?.(run.facts.executionId),
    })
  }
}

/** The cause of suspensions when the service stops. */
const stopping = Symbol('stopping')
