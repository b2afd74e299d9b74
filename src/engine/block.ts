import type { Static, TObject } from '@sinclair/typebox'
import type { Clock } from '../domain/clock.ts'
import type { ModelUsage } from '../domain/cost.ts'
import type { FileObject } from '../domain/file.ts'
import type { TriggerInput } from '../domain/input.ts'
import type { Limits } from '../domain/limits.ts'
import type { SpanNotes } from '../domain/log.ts'
import type { Models } from '../domain/model-call.ts'
import type { PriceOf } from '../domain/model-prices.ts'
import type { OutboundFetch } from '../domain/outbound-request.ts'
import type { Program, RunProgram } from '../domain/program.ts'
import type { ScheduleRule } from '../domain/schedule.ts'
import type { Address } from '../domain/trigger.ts'
import type { InputField, TriggerKind } from '../domain/workflow.ts'

/** The contract of a block type: one file in `blocks/` defines one with `defineBlock`. */
export type BlockDefinition<Parameters extends TObject = TObject> = {
  type: string
  /** For people: the name in the editor's palette, and one sentence. */
  label: string
  description: string
  /** `trigger`: starts runs, has no incoming edges. `container`: has a body of inner blocks. */
  kind: 'trigger' | 'step' | 'container'
  /**
   * The shape of the parameters once references are filled in. A parameter that is static is checked against it at
   * deployment, one with references when the block runs. `default` is applied to absent ones; `title` and
   * `description` are the form's labels.
   */
  parameters: Parameters
  /**
   * How a parameter's text is read; `template` when absent here. A function where that depends on another parameter:
   * it gets the parameters of the document as they are written, and is called once, when the workflow is compiled.
   */
  modes?: Partial<Record<string, ParameterMode | ((params: Readonly<Record<string, unknown>>) => ParameterMode)>>
  /** Names of the outputs: all are null when the block did not run or failed. */
  outputs: readonly string[]
  /** For the mode `tools`: the blocks that a tool may be, by the tool's type. */
  toolBlocks?: Readonly<Record<string, BlockDefinition>>
  /** The output that the block gives piece by piece with `context.chunk`, while it is generated. */
  streams?: string
  /** For a trigger: the kind of run it starts. */
  starts?: TriggerKind
  /** For a trigger: what an active version with it makes known. `params` fit the schema, defaults included. */
  registers?(params: Static<Parameters>): Registration
  /** Parameters that are given, once, when a document is saved without them: a random text that nobody can guess. */
  givenAtSave?: readonly string[]
  /** The handles that edges leave by, where that is not `source`. `error` is added for every block that may fail. */
  branches?: Branches
  /** False for triggers, conditions and routers: no `error` edge may leave them. */
  mayFail: boolean
  /**
   * Findings about the meaning of parameters, beyond their shape. `params` are the static ones; `written` are all, as
   * they stand in the document, references and all.
   */
  check?(
    params: Readonly<Record<string, unknown>>,
    workflow: WorkflowFacts,
    written: Readonly<Record<string, unknown>>,
  ): readonly ParameterFinding[]
  /**
   * True for what may run again when a run goes on after a crash: it only passes on what others made, or is made of
   * inner blocks that are kept one by one. Any other block that has ended is kept, with its outputs.
   */
  isRepeatable?: true
  /** True for what acts on nothing outside of its run and ends at once, with the same outcome however often it runs. */
  isPure?: true
  /** What a kept block does again beside giving its outputs. */
  restore?(outputs: Outputs, context: BlockContext): void
  /** What the span shows as input; all parameters when absent. */
  showInput?(params: Readonly<Record<string, unknown>>): unknown
  /** Does the work. A throw fails the block like an `error` in the result. */
  run(params: Static<Parameters>, context: BlockContext): BlockResult | Promise<BlockResult>
}

/**
 * One handle for each entry of the list `list` among the parameters, named by `prefix` and the entry's `id`; and one more
 * for `otherwise`. The output `output` holds the id of the one that the run left by.
 */
export type Branches = { list: string; prefix: string; otherwise?: string; output: string }

/** The handles that edges may leave a block by, but for `error`. */
export function portsOf({ branches }: BlockDefinition, params: Readonly<Record<string, unknown>>): readonly string[] {
  if (!branches) return ['source']
  const { list, prefix, otherwise } = branches
  const ids = idsOf(params[list])
  return (otherwise === undefined ? ids : [...ids, otherwise]).map((id) => prefix + id)
}

/** The handle that a block left by, told from its outputs. */
export function portLeftBy({ branches }: BlockDefinition, outputs: Outputs): string | null {
  if (!branches) return 'source'
  const id = outputs[branches.output]
  return typeof id === 'string' ? branches.prefix + id : null
}

/** The ids in a list of branches, as it may stand in a document. */
export function idsOf(entries: unknown): string[] {
  if (!Array.isArray(entries)) return []
  return entries.map((entry: { id?: unknown } | null) => {
    const id = entry?.id
    return typeof id === 'object' || id === undefined ? '' : String(id)
  })
}

/**
 * - `template`: strings anywhere inside are templates; one that is exactly one reference keeps the value's type.
 * - `json`: the same, or JSON text that is a template as a whole (`body`, `data`, `input`).
 * - `literal`: taken as it stands; references mean nothing in it.
 * - `code`: the body of an async function; arrives as a `ProgramCall`.
 * - `expressions`: a list of objects whose `expression` is one; arrives as `Expressions`.
 * - `tools`: a list of objects; the `params` of one whose `type` is in `toolBlocks` arrive as a `FillTool`.
 */
export type ParameterMode = 'template' | 'json' | 'literal' | 'code' | 'expressions' | 'tools'

/** What a block's check may know of the workflow around it. */
export type WorkflowFacts = { limits: Limits; variables: ReadonlySet<string>; priceOf: PriceOf }

export type ParameterFinding = { level: 'error' | 'warning'; code: string; path: string; message: string }

/** A program with the values that its references had when the block started. */
export type ProgramCall = {
  program: Program
  values: readonly unknown[]
  /** The references as the author wrote them, one for each value. */
  sources: readonly string[]
}

/**
 * A list of expressions, each with the entry it was written in. `shown`: the parameter as it was written, the same object in
 * every run.
 */
export type Expressions<Entry = unknown> = {
  readonly list: readonly { entry: Entry; evaluate: Evaluate }[]
  readonly shown: Readonly<Record<string, unknown>>
}

/** Evaluates an expression with the values its references had; a promise when it needs the sandbox. Throws `BlockError`. */
export type Evaluate = (signal: () => AbortSignal) => unknown | Promise<unknown>

/** The parameters of a tool's block, with the arguments in the place of `<args.x>`. Throws `BlockError`. */
export type FillTool = (args: Readonly<Record<string, unknown>>) => Record<string, unknown>

export type Outputs = Record<string, unknown>

export type BlockResult = {
  outputs: Outputs
  /** The handle the run leaves by; `source` when absent. */
  port?: string
  /** Set when the block failed: an `error` edge is followed, else `onError` decides. Also becomes `outputs.error`. */
  error?: BlockErrorData
  /** The answer of the whole run: ends it. */
  respond?: RunResponse
}

/** The HTTP answer a `response` block asks for. Header names as the author wrote them. */
export type RunResponse = { data: unknown; status: number; headers: ResponseHeaders }

/** A list where HTTP allows several headers of one name that cannot be joined: `Set-Cookie`. */
export type ResponseHeaders = Record<string, string | string[]>

export type BlockErrorData = { code: string; message: string; [more: string]: unknown }

/** What a block throws to fail with a code of its own. */
export class BlockError extends Error {
  readonly code: string
  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BlockError'
    this.code = code
  }
}

/** `address`: by which callers reach the workflow; `schedule`: when it runs by itself. */
export type Registration = { address?: Address; schedule?: ScheduleRule }

/** All that a block may touch. */
export interface BlockContext {
  readonly block: { readonly id: string; readonly name: string; readonly type: string }
  readonly run: RunFacts
  /** Aborts when the run is cancelled, times out or has its answer. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  readonly limits: Limits
  /** What the run was started with: a trigger turns it into its outputs. */
  readonly input: TriggerInput
  /** Requests to addresses that users chose. */
  fetch: OutboundFetch
  /** User code. */
  runProgram: RunProgram
  /** The same for every attempt of this block in this run, also after a crash. */
  idempotencyKey(): string
  /** Adds to this block's span. */
  note(notes: SpanNotes): void
  /** A part of this block's work with a span of its own below the block's. */
  part(name: string, type: string): PartContext
  /** Language models. */
  readonly models: Models
  readonly priceOf: PriceOf
  /** Counts what a request of a model cost; resolves when a run that outlives its process cannot forget it any more. */
  spend(usage: ModelUsage): Promise<void>
  /** Text for live readers, as it is generated. */
  chunk(text: string): void
  /** The run's files. */
  readonly files: BlockFiles
  /** The run's variables. */
  readonly variables: Map<string, unknown>
  /** A container's inner blocks; undefined elsewhere. */
  readonly body: Body | undefined
  /** Runs another workflow's active deployment inside this run. */
  runWorkflow(workflowId: string, input: Record<string, unknown>): Promise<SubRunOutcome>
  /** What `runWorkflow` would run. */
  describeWorkflow(workflowId: string): Promise<WorkflowDescription>
}

/** The context of a part. What it runs has places of its own, and runs anew when the block does after a crash. */
export interface PartContext extends BlockContext {
  /** Closes its span. */
  end(notes: SpanNotes): void
}

export type WorkflowDescription =
  | { ok: true; name: string; format: readonly InputField[] }
  | { ok: false; error: BlockErrorData }

/** The files of a run. */
export interface BlockFiles {
  /** Keeps content as a file of this run. */
  store(content: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<FileObject>
  /** The content of a file of this run by its URL; undefined for any other URL. */
  read(url: string): Promise<Blob | undefined>
  /** Takes a file back that a block of this run stored before a crash. */
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
  /** Runs the inner blocks once. Never throws for a failure inside: that is the outcome. */
  iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome>
  /** The container's own parameters (`loops` or `parallels` of the document), references filled in. */
  settings(): Readonly<Record<string, unknown>>
  /** Evaluates the container's condition as the inner blocks of the latest iteration see it. */
  condition(index: number): unknown | Promise<unknown>
  /** Aborts the iterations that still run; they end as cancelled. */
  stop(): void
  /** Whether the run has ended elsewhere (an answer, a failure): no further iteration makes sense. */
  readonly ended: boolean
}

export type Iteration = { index: number; currentItem: unknown; items: readonly unknown[] | null }

/** `output`: the output of the iteration's last block. */
export type IterationOutcome = { ok: true; output: unknown } | { ok: false; error: BlockErrorData }

export type SubRunOutcome = { success: boolean; output: unknown; error: BlockErrorData | null; executionId: string }

/** Checks a definition against its own parameter schema; the registry holds definitions of every schema. */
export function defineBlock<Parameters extends TObject>(definition: BlockDefinition<Parameters>): BlockDefinition {
  return definition as unknown as BlockDefinition
}
