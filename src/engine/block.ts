// Long because it is one contract: everything that a block declares and may use.
import type { Static, TObject } from '@sinclair/typebox'
import type { EventRegistration } from '../domain/alert/alert.ts'
import type { Clock } from '../domain/clock.ts'
import type { Connector } from '../domain/connector/connector.ts'
import type { RedisRequest } from '../domain/database/redis.ts'
import type { SqlRequest, SqlResult } from '../domain/database/sql.ts'
import type {
  EntryChange,
  EntryOutcome,
  EntryPage,
  EntryQuery,
  EntryRow,
  EntryScope,
  EntryScopeName,
} from '../domain/entry/entry.ts'
import type { DoFormatWork } from '../domain/format/format-work.ts'
import type { Limits } from '../domain/limits.ts'
import type { Mail, SentMail } from '../domain/mail/mail.ts'
import type { McpServer } from '../domain/mcp-server.ts'
import type { OutboundFetch, RequestAuthorization } from '../domain/outbound-request.ts'
import type { NewPoll } from '../domain/poll/poll.ts'
import type { ModelUsage } from '../domain/run/cost.ts'
import type { FileDrafts, FileObject, LocalFile } from '../domain/run/file.ts'
import type { TriggerInput } from '../domain/run/input.ts'
import type { SpanNotes } from '../domain/run/log.ts'
import type { Models } from '../domain/run/model-call.ts'
import type { PriceOf } from '../domain/run/model-prices.ts'
import type { PauseOutcome, PauseRequest } from '../domain/run/pause.ts'
import type { RunProgram } from '../domain/run/program.ts'
import type { AgentEvent } from '../domain/run/run-observer.ts'
import type { ScheduleRule } from '../domain/schedule/schedule.ts'
import type { InSlices } from '../domain/slices.ts'
import type { Address } from '../domain/workflow/trigger.ts'
import type { InputField, StartKind, TriggerKind } from '../domain/workflow/workflow.ts'
import type { ParameterMode } from './filled-parameters.ts'

export type {
  Evaluate,
  Expressions,
  FillEach,
  FillOwn,
  FillTool,
  ParameterMode,
  ProgramCall,
} from './filled-parameters.ts'

/** The contract of a block type: one file in `blocks/` defines one with `defineBlock`. */
export type BlockDefinition<Parameters extends TObject = TObject> = {
  type: string
  /** Shown in the editor: the name in the palette, and one sentence. */
  label: string
  description: string
  /** `trigger`: starts runs, has no incoming edges. `container`: has a body of inner blocks. */
  kind: 'trigger' | 'step' | 'container'
  /**
   * The shape of the parameters after references are filled in. A static parameter is checked against it at deployment,
   * one with references when the block runs. `default` applies to absent parameters; `title` and `description` are the
   * form's labels.
   */
  parameters: Parameters
  /**
   * How the text of each parameter is read; `template` for those not listed. A function if this depends on another
   * parameter: it is called once, at compilation, with the parameters as written in the document.
   */
  modes?: Partial<Record<string, ParameterMode | ((params: Readonly<Record<string, unknown>>) => ParameterMode)>>
  /**
   * The parameter that holds a list, for each item of which the block does its work again. When a document sets it, the
   * block receives this parameter, and all others as a `FillEach` in `each`. They may read `<batch.item>` and
   * `<batch.index>`, if the parameter is called `batch`.
   */
  repeatedBy?: string
  /** Names of the outputs. All are null while the block has not run, and after it failed. */
  outputs: readonly string[]
  /** Further outputs, which the parameters declare. `written`: as in the document, not checked. */
  declaredOutputs?(written: Readonly<Record<string, unknown>>): readonly string[]
  /** For the mode `tools`: the blocks that can be tools, by the tool's type. */
  toolBlocks?: Readonly<Record<string, BlockDefinition>>
  /** The output that the block streams with `context.chunk` while generating it. */
  streams?: string
  /** For a trigger: the kind of run it starts. */
  starts?: StartKind
  /** For a trigger: what its version registers when it becomes active. `params` fit the schema, with defaults. */
  registers?(params: Static<Parameters>): Registration
  /** For a trigger: whether its caller gets a response before the run, so that a `response` block sends nothing. */
  respondsAtOnce?(params: Readonly<Record<string, unknown>>): boolean
  /** Parameters that get a random, unguessable text when a document is saved without them. */
  givenAtSave?: readonly string[]
  /** The handles for outgoing edges; only `source` when absent. `error` is added for every block that may fail. */
  branches?: Branches
  /** Handles besides `source`. The run goes along `ahead` before the block ends, as `context.lead` says. */
  ports?: { ahead?: string; others: readonly string[] }
  /** False for triggers, conditions and routers: no `error` edge may leave them. */
  mayFail: boolean
  /**
   * Checks parameters beyond their shape. `params` are the static ones; `written` are all parameters as written in the
   * document, with their references.
   */
  check?(
    params: Readonly<Record<string, unknown>>,
    workflow: WorkflowFacts,
    written: Readonly<Record<string, unknown>>,
  ): readonly ParameterFinding[]
  /**
   * True if the block may run again when a job resumes after a crash: it only passes on outputs of others, or its inner
   * blocks are recorded one by one. All other blocks are recorded with their outputs when they end.
   */
  isRepeatable?: true
  /** Whether the block may pause its run, with these parameters of the document. */
  mayPause?(written: Readonly<Record<string, unknown>>, limits: Limits): boolean
  /** True if the block has no effects outside its run, ends at once, and always has the same result. */
  isPure?: true
  /**
   * Repeats the effects of a recorded block on its run, such as setting variables. `input`: of its span, which may be
   * shortened.
   */
  restore?(outputs: Outputs, context: BlockContext, input: unknown): void
  /** The input shown in the span; all parameters when absent. */
  showInput?(params: Readonly<Record<string, unknown>>): unknown
  /** Does the work. A throw fails the block like an `error` in the result. */
  run(params: Static<Parameters>, context: BlockContext): BlockResult | Promise<BlockResult>
}

/**
 * One handle for each entry of the parameter `list`, named by `prefix` and the entry's `id`, and one more for
 * `otherwise`. The output `output` is the id of the handle that the run left by.
 */
export type Branches = { list: string; prefix: string; otherwise?: string; output: string }

/** The ids in a list of branches. The list comes from a document and may have any shape. */
export function idsOf(entries: unknown): string[] {
  if (!Array.isArray(entries)) return []
  return entries.map((entry: { id?: unknown } | null) => {
    const id = entry?.id
    return typeof id === 'object' || id === undefined ? '' : String(id)
  })
}

/** The facts about the workflow and the installation that a block's check can read. */
export type WorkflowFacts = { limits: Limits; variables: ReadonlySet<string>; priceOf: PriceOf }

export type ParameterFinding = { level: 'error' | 'warning'; code: string; path: string; message: string }

export type Outputs = Record<string, unknown>

export type BlockResult = {
  outputs: Outputs
  /** The handle the run leaves by; `source` when absent. */
  port?: string
  /**
   * Set when the block failed: the run follows the `error` edge, or else `onError` decides. Also becomes
   * `outputs.error`.
   */
  error?: BlockErrorData
  /** The response of the whole run, which ends the run. */
  respond?: RunResponse
}

/** The HTTP response of a `response` block. Header names are as the author wrote them. */
export type RunResponse = { data: unknown; status: number; headers: ResponseHeaders }

/** A list for `Set-Cookie`, whose values cannot be joined in one header. */
export type ResponseHeaders = Record<string, string | string[]>

export type BlockErrorData = { code: string; message: string; [more: string]: unknown }

/** Thrown by a block to fail with a code of its own. */
export class BlockError extends Error {
  readonly code: string
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BlockError'
    this.code = code
  }
}

/**
 * `address`: where callers reach the workflow. `schedule`: when it runs by itself. `poll`: what it looks at by itself.
 */
export type Registration = {
  address?: Address
  schedule?: ScheduleRule
  events?: EventRegistration
  poll?: Pick<NewPoll, 'kind' | 'identity' | 'rule'>
}

/** Everything a block may use. */
export interface BlockContext {
  readonly block: { readonly id: string; readonly name: string; readonly type: string }
  readonly run: RunFacts
  /** Aborts when the run is cancelled, times out or has its response. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  readonly limits: Limits
  /** The input of the run, which its trigger converts to outputs. */
  readonly input: TriggerInput
  /** Sends requests to addresses that users chose. */
  fetch: OutboundFetch
  /** Counts values for the run that a block keeps between its requests, until they are its outputs. */
  holdMemory(): HeldMemory
  /** A credential of the workspace for a request. Throws `BlockError` when there is none of this name. */
  credential(name: string): Promise<RequestAuthorization>
  /** A connector of the workspace, or one that comes with the service. Throws `BlockError` when there is none. */
  connector(id: string): Promise<Connector>
  /** An MCP server at an address that users chose, with a credential of the workspace (empty: without one). */
  mcp(url: string, credential: string): McpServer
  /** Sends an e-mail with a credential of the workspace. Rejects with `MailError`. */
  sendMail(mail: Mail, credential: string, timeoutMs: number): Promise<SentMail>
  /** Runs statements on a database of a credential. Rejects with `DatabaseError` or `OutboundError`. */
  sql(request: SqlRequest): Promise<SqlResult>
  /** Sends a command to a Redis server of a credential; the reply is JSON data. Rejects like `sql`. */
  redis(request: RedisRequest): Promise<unknown>
  /** Runs user code in the sandbox. */
  runProgram: RunProgram
  /** Reads and writes documents of other programs, in a worker. */
  doFormatWork: DoFormatWork
  /** Does work that takes more than some milliseconds, in turns with everything else. */
  inSlices: InSlices
  /**
   * Waits until a time (epoch milliseconds); returns since when. A long wait can take the run out of memory: then this
   * block runs again when the time has come, maybe in another process.
   */
  waitUntil(until: number): Promise<number>
  /** Pauses the run at this block until an answer. Throws `BlockError` in runs that cannot pause. */
  pause(request: PauseRequest): Promise<PauseOutcome>
  /** Keeps something, and the child spans so far, for when this block runs again after a pause. */
  keep(kept: unknown): Promise<void>
  /** Returns the value that this block kept last, and restores its child spans. Undefined at first. Call it once. */
  kept(): unknown
  /** Lets the blocks behind a handle run while this block does, with these outputs of it. */
  lead(port: string, outputs: Outputs): void
  /**
   * Lets the blocks behind such a handle run again. `number`: of the repetition, from 1. `isOver`: only blocks with
   * a recorded step of this repetition are restored, so nothing new happens.
   */
  repeat(port: string, number: number, isOver: boolean): void
  /** The same text each time this block runs in this place of the run, also after a crash. */
  idempotencyKey(): string
  /** Adds to this block's span. */
  note(notes: SpanNotes): void
  /**
   * Opens a part of this block's work, with a child span. `within`: identifies the part when the block runs again;
   * otherwise its number does.
   */
  part(name: string, type: string, within?: string): PartContext
  /** Language models. */
  readonly models: Models
  readonly priceOf: PriceOf
  /** Adds the cost of a model call. In a job, resolves when the cost is recorded on disk. */
  spend(usage: ModelUsage): Promise<void>
  /** Streams a piece of generated text to observers. */
  chunk(text: string): void
  /** Tells observers what an agent does besides generating text. */
  agentEvent(event: AgentEvent): void
  /** The run's files. */
  readonly files: BlockFiles
  /** Values that stay between runs. */
  readonly entries: BlockEntries
  /** The run's variables. */
  readonly variables: Map<string, unknown>
  /** Adds labels to the run's log entry. Throws `BlockError` when one is too long, or there are too many. */
  label(labels: Readonly<Record<string, unknown>>): void
  /** A container's inner blocks; undefined elsewhere. */
  readonly body: Body | undefined
  /** Runs another workflow's active deployment inside this run. */
  runWorkflow(workflowId: string, input: Record<string, unknown>): Promise<SubRunOutcome>
  /** Describes the workflow that `runWorkflow` would run. */
  describeWorkflow(workflowId: string): Promise<WorkflowDescription>
}

/** Memory that is counted until `end`. */
export type HeldMemory = { add(bytes: number): void; end(): void }
/** The context of a part of a block. It is not recorded by itself: it runs again when its block does after a crash. */
export interface PartContext extends BlockContext {
  /** Closes its span. */
  end(notes: SpanNotes): void
}

export type WorkflowDescription =
  | { ok: true; name: string; format: readonly InputField[] }
  | { ok: false; error: BlockErrorData }

/**
 * Entries of the workflow, or of the whole workspace. Rejects with `AppError` when the storage is not available. A
 * change is made once, also if the block runs again after a crash.
 */
export interface BlockEntries {
  read(scope: EntryScopeName, key: string): Promise<EntryRow | null>
  change(scope: EntryScopeName, key: string, change: EntryChange): Promise<EntryOutcome>
  list(scope: EntryScopeName, query: Omit<EntryQuery, keyof EntryScope | 'now'>): Promise<EntryPage>
}

/** The files of a run. */
export interface BlockFiles {
  /** Stores content as a file of this run. */
  store(content: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<FileObject>
  /** The content of a file of this run by its URL; undefined for any other URL. */
  read(url: string): Promise<Blob | undefined>
  /** The same as a file of this machine. Close it at the end. */
  open(url: string): Promise<LocalFile | undefined>
  /** Holds content as a file of this machine. Close it at the end. */
  hold(content: Uint8Array): Promise<LocalFile>
  /** A folder in which other code writes files of this run. */
  drafts(): Promise<FileDrafts<FileObject>>
  /** Adds a file that a block of this run stored before a crash. */
  restore(file: FileObject): void
}

export type RunFacts = {
  readonly executionId: string
  readonly workflowId: string
  readonly workspaceId: string
  readonly trigger: TriggerKind
}

/** The inner blocks of a loop or parallel. */
export interface Body {
  /** Runs the inner blocks once. Does not throw when one fails: that is part of the outcome. */
  iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome>
  /** The container's own parameters (`loops` or `parallels` of the document), references filled in. */
  settings(): Readonly<Record<string, unknown>>
  /** Evaluates the container's condition with the outputs of the latest iteration. */
  condition(index: number): unknown | Promise<unknown>
  /** Cancels the running iterations. */
  stop(): void
  /** Whether the run has ended (by a response or a failure), so that no further iteration should start. */
  readonly ended: boolean
}

export type Iteration = { index: number; currentItem: unknown; items: readonly unknown[] | null }

/** `output`: the output of the iteration's last block. */
export type IterationOutcome = { ok: true; output: unknown } | { ok: false; error: BlockErrorData }

export type SubRunOutcome = { success: boolean; output: unknown; error: BlockErrorData | null; executionId: string }

/**
 * Lets the compiler check `run` and `registers` against the parameter schema. The registry holds definitions of any
 * schema.
 */
export function defineBlock<Parameters extends TObject>(definition: BlockDefinition<Parameters>): BlockDefinition {
  return definition as unknown as BlockDefinition
}
