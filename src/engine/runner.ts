import type { RequestClaim } from '../domain/claim.ts'
import type { Environment } from '../domain/environment.ts'
import { AppError } from '../domain/errors.ts'
import { newExecutionId } from '../domain/ids.ts'
import type { TriggerInput } from '../domain/input.ts'
import { limitSettings } from '../domain/limits.ts'
import type { RunFailure, RunRecord, Span } from '../domain/log.ts'
import { observers, type RunInSight, type RunObserver } from '../domain/run-observer.ts'
import type { TriggerKind } from '../domain/workflow.ts'
import type { RunResponse } from './block.ts'
import { callable, describe } from './callable.ts'
import type { Deployment } from './deployments.ts'
import { recordOf, rootSpan, stopped } from './ending.ts'
import { Halt } from './halt.ts'
import type { Journal } from './journal.ts'
import { type PartialRun, runAlone } from './partial.ts'
import type { Plan, PlanNode } from './plan.ts'
import { walkRoot } from './root-walk.ts'
import { Budget, keepCosts, type Powers, Run } from './run.ts'
import { runWorkflow } from './sub-run.ts'
import type { ScopeEnd } from './walk.ts'

export type RunRequest = {
  plan: Plan
  workflowId: string
  workspaceId: string
  version: number
  trigger: TriggerKind
  /** Already checked against the trigger's input format. */
  input: TriggerInput
  executionId?: string
  timeoutMs?: number
  /** When an asynchronous run was accepted; null for one that somebody waits for. */
  createdAt?: number
  /** When it first started, for one that goes on; the timeout counts from there. */
  startedAt?: number
  /** Of a run that is to go on when it is stopped. */
  journal?: Journal
  /** The request that it answers: taken with its log entry, unless it failed, so that the sender may try again. */
  claim?: RequestClaim
  observer?: RunObserver
  /** The trigger that the run begins at, where it is not the one of its kind: a run by hand begins at any. */
  entry?: PlanNode
  /** Of a run by hand that does not run everything. */
  partial?: PartialRun
  /** Aborts when the caller leaves; asked for only when the run has to wait. Undefined: nobody can leave. */
  callerSignal?: () => AbortSignal | undefined
  /** Asked when the caller has left: whether the run goes on all the same. */
  goesOnAlone?: () => boolean
}

/**
 * How a run ended. `response`: the answer of a `response` block, undefined when none was reached. `suspension`: set when
 * it did not end but was stopped to go on later, and why; only a run with a journal is.
 */
export type RunEnd = {
  record: RunRecord
  response: RunResponse | undefined
  suspension: { cause: unknown } | undefined
  /** Who watches it by now. */
  observer: RunObserver | undefined
}

export type RunnerOptions = {
  powers: Omit<Powers, 'runWorkflow' | 'describeWorkflow'>
  /** Writes the log entry down, and the claim with it; the run counts as in flight until then. */
  record(record: RunRecord, claim?: RequestClaim): Promise<unknown>
  /** The active deployment of a workflow that another one calls; a version of it, when the call began with that one. */
  deploymentOf(workflowId: string, version?: number): Promise<Deployment | undefined>
  /** Of a workspace, at once when it is in memory. Every run asks: also one that reads none may be handed a secret. */
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  /** Who waits for an asynchronous run to begin. */
  awaiting?(executionId: string): RunObserver | undefined
}

/** Runs in flight: starts them, bounds them, stops them. */
export class Runner {
  readonly #options: RunnerOptions
  readonly #powers: Powers
  readonly #running = new Map<string, Run>()
  #count = 0
  #jobs = 0
  #stopping = false
  #idle: (() => void) | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#powers = {
      ...options.powers,
      runWorkflow: (call) => runWorkflow(call, this.#powers, options.deploymentOf),
      describeWorkflow: async (workflowId, workspaceId) =>
        describe(callable(workflowId, workspaceId, await options.deploymentOf(workflowId))),
    }
  }

  /** Runs that somebody waits for. */
  get inFlight(): number {
    return this.#count - this.#jobs
  }

  /** A run that has not ended yet. */
  find(
    executionId: string,
  ): { executionId: string; workflowId: string; workspaceId: string; startedAt: number } | undefined {
    const run = this.#running.get(executionId)
    return run && { ...run.facts, startedAt: run.startedAt }
  }

  /** Lets somebody watch a run in flight from here on. False when it is not in flight. */
  observe(executionId: string, observer: RunObserver): boolean {
    const run = this.#running.get(executionId)
    if (!run?.root) return false
    run.budget.observer = observers(run.budget.observer, observer)
    observer.began?.(inSight(run, run.root))
    return true
  }

  /** Asks a run to end; it ends when its blocks have stopped. False when it is not in flight. */
  cancel(executionId: string, code: 'CANCELLED' | 'CLIENT_CLOSED' = 'CANCELLED'): boolean {
    const run = this.#running.get(executionId)
    return run?.fail(stopped(code)) ?? false
  }

  /** Rejects with OVERLOADED, before anything has run, when there is no free slot or the service is stopping. */
  assertFree(): void {
    if (this.#stopping)
      throw new AppError('OVERLOADED', 'The service is stopping. Try again in a moment.', { retryAfterS: 5 })
    const max = this.#powers.limits.runsMax
    if (this.inFlight < max) return
    throw new AppError(
      'OVERLOADED',
      `${max} runs are in progress, the most that ${limitSettings.runsMax} allows. Try again in a moment.`,
      { retryAfterS: 1 },
    )
  }

  /** Runs a workflow and writes its log entry. Rejects only when the entry cannot be written, or for a bug. */
  execute(request: RunRequest): Promise<RunEnd> {
    try {
      this.assertFree()
    } catch (refusal) {
      return Promise.reject(refusal)
    }
    return this.#execute(request)
  }

  /** The same for an asynchronous run: its caller bounds how many there are. Nothing is written when it is suspended. */
  async executeJob(request: RunRequest & { journal: Journal }): Promise<RunEnd> {
    this.#jobs += 1
    try {
      return await this.#execute(request)
    } finally {
      this.#jobs -= 1
    }
  }

  async #execute(request: RunRequest): Promise<RunEnd> {
    this.#count += 1
    let end: RunEnd | undefined
    try {
      const walked = this.run(request)
      end = walked instanceof Promise ? await walked : walked
      const { record, suspension, observer } = end
      if (suspension) observer?.lost?.(suspension.cause)
      else {
        const written = this.#options.record(record, hasFailed(end) ? undefined : request.claim)
        const run = this.#running.get(record.executionId)
        // Whoever comes while it is written wants to be told as well.
        await (run || observer ? told(written, record, () => run?.observer ?? observer) : written)
      }
      return end
    } finally {
      // Not before: between its last block and its entry a run must not be nowhere.
      if (end) this.#running.delete(end.record.executionId)
      this.#count -= 1
      if (this.#count === 0) this.#idle?.()
    }
  }

  /** Runs a workflow and writes nothing down. Synchronous when no block has to wait. */
  run(request: RunRequest): RunEnd | Promise<RunEnd> {
    const environment = this.#options.environmentOf(request.workspaceId)
    if (!(environment instanceof Promise)) return this.#walk(request, environment)
    return environment.then((loaded) => this.#walk(request, loaded))
  }

  /** Starts no more runs; waits for those in flight, and stops what is left after `graceMs`: to go on later, where it can. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true
    const timer = this.#powers.clock.setTimer(graceMs, () => {
      for (const run of [...this.#running.values()]) {
        if (run.journal) run.suspend(stopping)
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
    const { plan, workflowId, workspaceId, trigger, input, journal } = request
    const executionId = request.executionId ?? newExecutionId()
    // Asked for as late as this: who comes from here on finds the run in flight.
    const observer = request.observer ?? (journal && this.#options.awaiting?.(executionId))
    const run = new Run(
      {
        facts: { executionId, workflowId, workspaceId, trigger },
        plan,
        input,
        environment: journal ? { ...environment, redactor: journal.hide(environment.redactor) } : environment,
        depth: 0,
        place: '',
        callerId: null,
        budget: new Budget({ workflowId, files: input.files }, observer),
        halt: new Halt(),
        journal,
        partial: request.partial,
        startedAt: request.startedAt,
      },
      this.#powers,
    )
    run.budget.outermost = run
    if (journal) keepCosts(run.budget, journal)
    if (request.startedAt !== undefined && this.#timeLeft(request) <= 0) run.fail(this.#timedOut(request))
    const root = rootSpan(run)
    if (observer?.began) observer.began(inSight(run, root))
    const ending = request.partial?.only
      ? runAlone(run, request.partial.only, root)
      : walkRoot(run, request.entry ?? plan.triggers.get(trigger)?.node, root)
    if (!(ending instanceof Promise)) return finish(run, root, request, ending)
    return this.#wait(run, root, request, ending)
  }

  async #wait(run: Run, root: Span, request: RunRequest, ending: Promise<ScopeEnd>): Promise<RunEnd> {
    const timer = this.#powers.clock.setTimer(this.#timeLeft(request), () => run.fail(this.#timedOut(request)))
    const signal = request.callerSignal?.()
    const leave = () => request.goesOnAlone?.() || run.fail(stopped('CLIENT_CLOSED'))
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    this.#running.set(run.facts.executionId, run)
    try {
      return finish(run, root, request, await ending)
    } catch (bug) {
      this.#running.delete(run.facts.executionId)
      run.observer?.lost?.(bug)
      throw bug
    } finally {
      signal?.removeEventListener('abort', leave)
      timer.cancel()
    }
  }

  #timeLeft({ timeoutMs = this.#powers.limits.runTimeoutMs, startedAt }: RunRequest): number {
    return startedAt === undefined ? timeoutMs : timeoutMs - (this.#powers.clock.now() - startedAt)
  }

  #timedOut({ timeoutMs = this.#powers.limits.runTimeoutMs, journal }: RunRequest): RunFailure {
    const setting = journal ? 'MILLRACE_ASYNC_TIMEOUT_MS' : limitSettings.runTimeoutMs
    const message = `The run took longer than ${timeoutMs} ms, the most that ${setting} allows.`
    return { code: 'EXECUTION_TIMEOUT', message, blockId: null, blockName: null }
  }
}

function finish(run: Run, root: Span, request: RunRequest, end: ScopeEnd): RunEnd {
  const record = recordOf(run, root, end, request)
  const { suspension, observer } = run
  return { record, response: record.failure ? undefined : run.response, suspension, observer }
}

/** What watchers see of a run. */
function inSight({ facts, startedAt, environment }: Run, root: Span): RunInSight {
  return { ...facts, startedAt, root, secrets: environment.redactor }
}

/** Tells the observer what becomes of the entry. */
function told(written: Promise<unknown>, record: RunRecord, watching: () => RunObserver | undefined): Promise<void> {
  return written.then(
    () => watching()?.recorded?.(record),
    (error: unknown) => {
      watching()?.lost?.(error)
      throw error
    },
  )
}

/** Whether whoever sent the request is told that it did not work. */
export function hasFailed({ record, response }: RunEnd): boolean {
  return record.failure !== null || (response?.status ?? 200) >= 500
}

/** Why runs are suspended when the service stops. */
const stopping = Symbol('stopping')
