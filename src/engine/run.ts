import type { Clock } from '../domain/clock.ts'
import { addCost, type Cost, noCost } from '../domain/cost.ts'
import type { Environment } from '../domain/environment.ts'
import type { FileStore, RunFile } from '../domain/file.ts'
import type { TriggerInput } from '../domain/input.ts'
import type { Limits } from '../domain/limits.ts'
import type { RunFailure, Span } from '../domain/log.ts'
import type { Models } from '../domain/model-call.ts'
import type { PriceOf } from '../domain/model-prices.ts'
import type { OutboundFetch } from '../domain/outbound-request.ts'
import type { RunProgram } from '../domain/program.ts'
import type { RunObserver } from '../domain/run-observer.ts'
import type { RunFacts, RunResponse, SubRunOutcome, WorkflowDescription } from './block.ts'
import type { Halt } from './halt.ts'
import type { Journal } from './journal.ts'
import type { PartialRun } from './partial.ts'
import type { Plan } from './plan.ts'
import type { RunFiles } from './run-files.ts'

/** What every run of the service shares: the powers that blocks are given. */
export type Powers = {
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  limits: Limits
  fetch: OutboundFetch
  runProgram: RunProgram
  models: Models
  files: FileStore
  priceOf: PriceOf
  /** Runs the active deployment of another workflow inside `run`; its spans go to `children`. */
  runWorkflow(call: SubRunCall): Promise<SubRunOutcome>
  describeWorkflow(workflowId: string, workspaceId: string): Promise<WorkflowDescription>
}

export type SubRunCall = {
  run: Run
  halt: Halt
  workflowId: string
  input: Record<string, unknown>
  /** The calling block's place in the run, unique in it. */
  place: string
  /** The id of the calling block's span. */
  callerId: string
  /** Undefined when nothing of the sub-run is to be kept. */
  journal: Journal | undefined
  children: Span[]
}

/** What a run and all its sub-runs share: what is counted over them together, and the ways to end the outermost one. */
export class Budget {
  blocks = 0
  bytes = 0
  spans = 0
  /** What the requests of models cost so far. */
  cost: Cost = noCost
  /** The outermost run. */
  readonly root: { workflowId: string; files: readonly RunFile[] | undefined }
  outermost: Run | undefined
  /** Made when a block asks for them. */
  files: RunFiles | undefined
  /** Who watches; readers may come while the run goes on. */
  observer: RunObserver | undefined
  /** Where what is spent is written down. */
  costs: Journal | undefined

  constructor(root: Budget['root'], observer: RunObserver | undefined) {
    this.root = root
    this.observer = observer
  }

  /** Adds to the cost; a promise when it has to be written down. */
  spend(cost: Cost): Promise<void> | undefined {
    this.cost = addCost(this.cost, cost)
    return this.costs?.keepCost(cost).catch((cause: unknown) => this.suspend(cause))
  }

  /** Ends the outermost run as failed, whatever runs inside it. */
  stop(failure: RunFailure): void {
    this.outermost?.fail(failure)
  }

  /** Ends it for now: it goes on later from its journal. `cause`: why. */
  suspend(cause: unknown): void {
    this.outermost?.suspend(cause)
  }
}

export type RunStart = {
  facts: RunFacts
  plan: Plan
  input: TriggerInput
  environment: Environment
  /** Sub-workflows above this run. */
  depth: number
  /** The place of the block that called this sub-run; empty for the run itself. */
  place: string
  /** The id of that block's span; null for the run itself. */
  callerId: string | null
  budget: Budget
  halt: Halt
  /** Of a run that outlives its process; undefined for one that somebody waits for. */
  journal: Journal | undefined
  /** Of a run by hand that does not run everything. */
  partial?: PartialRun | undefined
  /** When the run first started; now, unless it goes on after a crash. */
  startedAt?: number | undefined
}

/** One run in flight: what its blocks share, and how it ends. */
export class Run {
  readonly facts: RunFacts
  readonly plan: Plan
  readonly input: TriggerInput
  readonly environment: Environment
  readonly depth: number
  readonly place: string
  readonly callerId: string | null
  readonly budget: Budget
  readonly halt: Halt
  readonly journal: Journal | undefined
  readonly partial: PartialRun | undefined
  readonly powers: Powers
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** The answer of a `response` block, the first one reached. */
  response: RunResponse | undefined
  /** What the block gave that the run was to go as far as. */
  reached: { output: unknown } | undefined
  /** Set once, by whoever stops the run from outside of its blocks. */
  failure: RunFailure | undefined
  /** Why it was stopped to go on later. */
  suspension: { cause: unknown } | undefined
  /** Of the run as a whole; set before its first block. */
  root: Span | undefined
  /** Whether its last block has stopped; the entry may still be on its way to the disk. */
  ended = false
  #variables: Map<string, unknown> | undefined
  #breathedAt: number

  constructor(start: RunStart, powers: Powers) {
    this.facts = start.facts
    this.plan = start.plan
    this.input = start.input
    this.environment = start.environment
    this.depth = start.depth
    this.place = start.place
    this.callerId = start.callerId
    this.budget = start.budget
    this.halt = start.halt
    this.journal = start.journal
    this.partial = start.partial
    this.powers = powers
    this.startedAt = start.startedAt ?? powers.clock.now()
    this.#breathedAt = powers.clock.monotonic()
  }

  get observer(): RunObserver | undefined {
    return this.budget.observer
  }

  /** Made when a block asks for them: most runs have none. */
  get variables(): Map<string, unknown> {
    this.#variables ??= new Map(this.plan.variables)
    return this.#variables
  }

  get runProgram(): RunProgram {
    return this.powers.runProgram
  }

  /** Ends the run with an answer. False when it had ended before. */
  respond(response: RunResponse): boolean {
    if (this.response || this.halt.stopped) return false
    this.response = response
    this.halt.stop(answered)
    return true
  }

  /** Ends the run with what the block gave that it was to go as far as. */
  reach(output: unknown): void {
    if (this.halt.stopped) return
    this.reached = { output }
    this.halt.stop(arrived)
  }

  /** Ends the run as failed. False, and without effect, when something has ended it before. */
  fail(failure: RunFailure): boolean {
    if (this.ended || this.halt.stopped) return false
    this.failure = failure
    this.halt.stop(failure)
    return true
  }

  /** Stops the run where it is, for it to go on later. False, and without effect, when something has ended it before. */
  suspend(cause: unknown): boolean {
    if (this.ended || this.halt.stopped) return false
    this.suspension = { cause }
    this.halt.stop(suspended)
    return true
  }

  nextSpanId(): string {
    this.budget.spans += 1
    return `s${this.budget.spans}`
  }

  /**
   * A loop of blocks that never wait would hold up every other request: after a few milliseconds it has to let them pass.
   * Undefined while there is time.
   */
  breathe(): Promise<void> | undefined {
    if (this.powers.clock.monotonic() - this.#breathedAt < holdMsMax) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#breathedAt = this.powers.clock.monotonic()
        resolve()
      })
    })
  }
}

/** The reason of a stop that is no failure: the run has its answer. */
export const answered = Symbol('answered')
/** The reason of a stop that is no failure: the run has come as far as it was to go. */
const arrived = Symbol('arrived')
/** The reason of a stop after which the run goes on later. */
export const suspended = Symbol('suspended')

const holdMsMax = 5

/** What a run spent is written down as it is spent, and counted once, however often its blocks run. */
export function keepCosts(budget: Budget, journal: Journal): void {
  budget.cost = journal.cost
  budget.costs = journal
}
