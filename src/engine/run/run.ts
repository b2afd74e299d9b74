// Long because a run, its budget and the capabilities of its blocks belong together.
import type { Environment } from '../../domain/account/environment.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Connector } from '../../domain/connector/connector.ts'
import type { Databases } from '../../domain/database/database.ts'
import type { EntryPower } from '../../domain/entry/entry.ts'
import type { DoFormatWork } from '../../domain/format/format-work.ts'
import type { Limits } from '../../domain/limits.ts'
import type { SendMail } from '../../domain/mail/mail.ts'
import type { McpClient } from '../../domain/mcp-server.ts'
import type { OutboundFetch, OutboundRequest, RequestAuthorization } from '../../domain/outbound-request.ts'
import { addCost, type Cost, noCost } from '../../domain/run/cost.ts'
import type { FileStore, RunFile } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { RunFailure, Span } from '../../domain/run/log.ts'
import type { Models } from '../../domain/run/model-call.ts'
import type { PriceOf } from '../../domain/run/model-prices.ts'
import type { RunProgram } from '../../domain/run/program.ts'
import type { RunObserver } from '../../domain/run/run-observer.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { TraceParent } from '../../domain/trace-context.ts'
import type { RunFacts, RunResponse, SubRunOutcome, WorkflowDescription } from '../block.ts'
import type { Plan } from '../compile/plan.ts'
import type { CancellationScope } from './cancellation-scope.ts'
import type { BlockEnd, PartialRun } from './contracts.ts'
import type { RunFiles } from './run-files.ts'
import type { RunMemory } from './run-memory.ts'
import type { RunPauses } from './run-pauses.ts'
import type { StepHistory } from './step-history.ts'

/** The capabilities of blocks, shared by all runs of the service. */
export type Capabilities = {
  clock: Clock
  /** Measures how long a run keeps the main thread; `clock` if absent. */
  turns?: Pick<Clock, 'monotonic'>
  /** 0 ≤ n < 1. */
  random(): number
  /** Remembers what the main thread begins. */
  note?(text: string): void
  limits: Limits
  fetch: OutboundFetch
  /** A credential of a workspace for a request of a run with this environment; undefined when there is none. */
  credential?(workspaceId: string, name: string, environment: Environment): Promise<RequestAuthorization | undefined>
  /** A connector that a workspace can use; undefined when there is none. */
  connector?(workspaceId: string, id: string): Promise<Connector | undefined>
  mcp?: McpClient
  /** Sends e-mail with a credential of a workspace. */
  sendMail?: SendMail<{ workspaceId: string; environment: Environment }>
  databases?: Databases
  /** The headers of a request that belongs to a span. Absent when runs are not exported as traces. */
  traceHeadersOf?(executionId: string, parent: TraceParent | undefined, span: Span): OutboundRequest['headers']
  runProgram: RunProgram
  /** Absent where blocks can read no documents. */
  doFormatWork?: DoFormatWork
  inSlices: InSlices
  memory: RunMemory
  models: Models
  files: FileStore
  entries?: EntryPower
  priceOf: PriceOf
  /** Runs the active deployment of another workflow inside `run` and adds its spans to `children`. */
  runWorkflow(call: SubRunCall): Promise<SubRunOutcome>
  describeWorkflow(workflowId: string, workspaceId: string): Promise<WorkflowDescription>
}

export type SubRunCall = {
  run: Run
  cancellation: CancellationScope
  workflowId: string
  input: Record<string, unknown>
  /** The calling block's place in the run, unique in it. */
  place: string
  /** The id of the calling block's span. */
  callerId: string
  /** Undefined when the sub-run records nothing. */
  history: StepHistory | undefined
  children: Span[]
}

/** The state that a run shares with all its sub-runs: common totals, and the means to end the outermost run. */
export class Budget {
  blocks = 0
  /** The outputs of all blocks. */
  bytes = 0
  /** Bytes besides the outputs: the input of an asynchronous run, and responses that blocks are reading. */
  otherBytes = 0
  spans = 0
  /** The cost of all model calls so far. */
  cost: Cost = noCost
  /** The outermost run. */
  readonly root: { workflowId: string; files: readonly RunFile[] | undefined }
  outermost: Run | undefined
  /** Created when a block first asks for it. */
  files: RunFiles | undefined
  /** Created when a block first sets one. */
  labels: Map<string, string> | undefined
  /** May be set, or extended, while the run is in progress. */
  observer: RunObserver | undefined
  /** Records the cost; undefined for a run that does not survive its process. */
  costs: StepHistory | undefined
  /** Set for a run that can pause. */
  pauses: RunPauses | undefined
  /** Set when a run with a waiting caller has become an asynchronous one. */
  acceptedAt: number | undefined
  /** Blocks in progress that would run twice if the run were suspended now. */
  #unrepeatable = 0
  #blockEnd: PromiseWithResolvers<void> | undefined

  constructor(root: Budget['root'], observer: RunObserver | undefined) {
    this.root = root
    this.observer = observer
  }

  /** Adds to the cost. Returns a promise when the cost has to be recorded. */
  spend(cost: Cost): Promise<void> | undefined {
    this.cost = addCost(this.cost, cost)
    return this.costs?.recordCost(cost).catch((cause: unknown) => this.suspend(cause))
  }

  /** Counts a block that would run twice if the run were suspended, until it has ended and is recorded. */
  async uninterrupted(block: Promise<BlockEnd>): Promise<BlockEnd> {
    this.#unrepeatable += 1
    try {
      return await block
    } finally {
      this.#unrepeatable -= 1
      this.#blockEnd?.resolve()
      this.#blockEnd = undefined
    }
  }

  /** Resolves when the next such block has ended. Undefined when none is in progress. */
  get blockEnd(): Promise<void> | undefined {
    if (this.#unrepeatable === 0) return undefined
    this.#blockEnd ??= Promise.withResolvers()
    return this.#blockEnd.promise
  }

  /** Ends the outermost run as failed, with everything inside it. */
  stop(failure: RunFailure): void {
    this.outermost?.fail(failure)
  }

  /** Suspends the outermost run: it resumes later from its step history. */
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
  cancellation: CancellationScope
  /** Set for a run that survives its process, or may pause. */
  history: StepHistory | undefined
  /** Set for a manual run of a part of the workflow. */
  partial?: PartialRun | undefined
  /** When the run first started; set for a resumed run, otherwise it is now. Epoch milliseconds. */
  startedAt?: number | undefined
}

/** One run in flight: what its blocks share, and why it ended. */
export class Run {
  readonly facts: RunFacts
  readonly plan: Plan
  readonly input: TriggerInput
  readonly environment: Environment
  readonly depth: number
  readonly place: string
  readonly callerId: string | null
  readonly budget: Budget
  readonly cancellation: CancellationScope
  readonly history: StepHistory | undefined
  readonly partial: PartialRun | undefined
  readonly capabilities: Capabilities
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** The response of the first `response` block that ran. */
  response: RunResponse | undefined
  /** The output of the block that the partial run was to end with, once that block has ended. */
  reached: { output: unknown } | undefined
  /** Set at most once, when something outside of its blocks ends the run. */
  failure: RunFailure | undefined
  /** Set when the run was suspended. */
  suspension: { cause: unknown } | undefined
  /** The span of the run as a whole; set before its first block. */
  root: Span | undefined
  /** Whether the last block has ended; the log entry may not be on disk yet. */
  ended = false
  filledChars = 0
  #variables: Map<string, unknown> | undefined
  #yieldedAt: number

  constructor(start: RunStart, capabilities: Capabilities) {
    this.facts = start.facts
    this.plan = start.plan
    this.input = start.input
    this.environment = start.environment
    this.depth = start.depth
    this.place = start.place
    this.callerId = start.callerId
    this.budget = start.budget
    this.cancellation = start.cancellation
    this.history = start.history
    this.partial = start.partial
    this.capabilities = capabilities
    this.startedAt = start.startedAt ?? capabilities.clock.now()
    this.#yieldedAt = (capabilities.turns ?? capabilities.clock).monotonic()
  }

  /** Whether it survives its process: its steps are on disk. */
  get isDurable(): boolean {
    return this.history !== undefined && !this.history.isHeld
  }

  get observer(): RunObserver | undefined {
    return this.budget.observer
  }

  /** Created when a block first asks for it: most runs use none. */
  get variables(): Map<string, unknown> {
    this.#variables ??= new Map(this.plan.variables)
    return this.#variables
  }

  get runProgram(): RunProgram {
    const { workspaceId } = this.facts
    return (request) => this.capabilities.runProgram({ ...request, workspaceId, mayStart: () => this.#mayStart() })
  }

  get doFormatWork(): DoFormatWork {
    const { facts, capabilities } = this
    const { workspaceId } = facts
    return async (request) => {
      const doWork = capabilities.doFormatWork
      if (!doWork) return { ok: false, code: 'FORMAT_FAILED', message: 'This run can read and write no documents.' }
      return await doWork({ ...request, workspaceId, mayStart: () => this.#mayStart() })
    }
  }

  /** Whether there is memory for a large result of work outside the run. */
  #mayStart(): boolean {
    // A workflow that a block calls as a tool is a part of that block, so it goes on.
    const isTool = !this.isDurable && this.budget.outermost?.isDurable === true
    return isTool || this.capabilities.memory.mayGrow(this.facts)
  }

  get expressionWorkMax(): number {
    return this.capabilities.limits.expressionWorkMax
  }

  get blockBytesMax(): number {
    return this.capabilities.limits.blockBytesMax
  }

  /** Ends the run with a response. False when it had ended before. */
  respond(response: RunResponse): boolean {
    if (this.response || this.cancellation.isCancelled) return false
    this.response = response
    this.cancellation.cancel(responded)
    return true
  }

  /** Ends the run with the output of the block that it was to end with. */
  reach(output: unknown): void {
    if (this.cancellation.isCancelled) return
    this.reached = { output }
    this.cancellation.cancel(reachedEnd)
  }

  /** Ends the run as failed. False, without effect, when it had ended before. */
  fail(failure: RunFailure): boolean {
    if (this.ended || this.cancellation.isCancelled) return false
    this.failure = failure
    this.cancellation.cancel(failure)
    return true
  }

  /** Stops the run where it is, to be resumed later. False, without effect, when it had ended before. */
  suspend(cause: unknown): boolean {
    if (this.ended || this.cancellation.isCancelled) return false
    this.suspension = { cause }
    this.cancellation.cancel(suspended)
    return true
  }

  nextSpanId(): string {
    this.budget.spans += 1
    return `s${this.budget.spans}`
  }

  /**
   * Gives the event loop a turn every few milliseconds: a loop of blocks that never wait would otherwise delay every
   * other request. Undefined when no turn is due.
   */
  yieldWhenDue(): Promise<void> | undefined {
    const { clock, turns = clock } = this.capabilities
    if (turns.monotonic() - this.#yieldedAt < turnMsMax) return undefined
    this.budget.pauses?.begin()
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#yieldedAt = turns.monotonic()
        resolve()
        this.budget.pauses?.end()
      })
    })
  }
}

/** Why the run was cancelled: it has its response. */
const responded = Symbol('responded')
/** Why the run was cancelled: the block that it was to end with has ended. */
const reachedEnd = Symbol('reached its end')
/** Why the run was cancelled: it is suspended. */
const suspended = Symbol('suspended')

const turnMsMax = 5
