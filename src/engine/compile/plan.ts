import type { Limits } from '../../domain/limits.ts'
import type { Secret } from '../../domain/redaction/redactor.ts'
import { coerce } from '../../domain/run/input.ts'
import { type PriceOf, pricesWith } from '../../domain/run/model-prices.ts'
import { finish, type Slices } from '../../domain/slices.ts'
import { exposureFindings } from '../../domain/workflow/exposure-findings.ts'
import { readPath } from '../../domain/workflow/reference.ts'
import type { Finding, InputField, StartKind, Variable, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { limitsIn, type WorkflowLimits } from '../../domain/workflow/workflow-limits.ts'
import type { BlockDefinition, Evaluate, Outputs, Registration } from '../block.ts'
import type { Frame, Getter } from '../run/frame.ts'
import { arrange } from './arrange.ts'
import { checkContainer } from './container.ts'
import type { GraphNode, GraphScope, Registry } from './graph.ts'
import type { Parameters } from './parameter-reader.ts'
import { type CompileContext, compileEvaluate, compileParameters } from './parameters.ts'
import { type Place, type PlanReference, ReferenceResolver } from './reference-resolver.ts'
import { Report } from './report.ts'
import { reportSecrets } from './secret-findings.ts'
import { compileStartLimits, type StartLimits } from './start-limits.ts'
import { compileValue, getterOf, type Resolve } from './template.ts'
import type { EnvironmentUse } from './unset-variables.ts'
import { writtenParameters } from './written-parameters.ts'

/** A workflow, compiled once at deployment. During a run, nothing is parsed or looked up by name. */
export type Plan = {
  document: WorkflowDocument
  root: PlanScope
  triggers: ReadonlyMap<StartKind, PlanTrigger>
  variables: ReadonlyMap<string, unknown>
  limits: WorkflowLimits
  /** Undefined for most workflows: they limit no starts. */
  startLimits: StartLimits | undefined
  /** Whether a block may pause a run. */
  mayPause: boolean
  /** Names of the environment variables that the workflow reads; usually empty. */
  environmentNames: ReadonlySet<string>
  /** Ids of the blocks whose outputs another block reads, other than a `response` block. */
  readBlocks: ReadonlySet<string>
  /** The output that each streaming block streams, by block id. */
  streams: ReadonlyMap<string, string>
  /** Ids of the streaming blocks that are not in `readBlocks`. */
  unreadStreams: ReadonlySet<string>
  /** The ids of the blocks whose outputs each block reads, by block id. */
  reads: ReadonlyMap<string, ReadonlySet<string>>
  /** The references of each block that can have a value, by block id and source. */
  references: ReadonlyMap<string, ReadonlyMap<string, PlanReference>>
  /** The passwords, tokens and keys in the document itself, which logs must not contain; usually empty. */
  writtenSecrets: readonly Secret[]
}

export type PlanTrigger = {
  node: PlanNode
  /** Its parameters, with defaults. They have no references: no block runs before a trigger. */
  params: Readonly<Record<string, unknown>>
  /** The addresses and the schedule that the version registers while it is active. */
  registration: Registration
  format: readonly InputField[]
  /** Names of the fields for files; usually empty. */
  fileFields: readonly string[]
}

/** The blocks of the root, or of one loop or parallel, by slot. */
export type PlanScope = {
  nodes: readonly PlanNode[]
  /** Incoming edges of each block, by slot. */
  incoming: readonly number[]
  /** Slots without incoming edges. `isStart`: the container's start edge leads there; false in the root. */
  entries: readonly { slot: number; isStart: boolean }[]
  /** Slots with incoming edges to which the container's start edge leads too. */
  joinedStarts: readonly number[]
}

export type PlanNode = {
  slot: number
  id: string
  name: string
  type: string
  definition: BlockDefinition
  enabled: boolean
  parameters: Parameters
  outgoing: readonly { port: string; target: number }[]
  hasErrorEdge: boolean
  /** `onError: continue` of a step. A container's setting concerns its iterations instead. */
  goesOnAfterError: boolean
  /** Its outputs while it has not run, and after it failed: all null. */
  noOutputs: Outputs
  /** Set for a loop or parallel. */
  body: PlanBody | undefined
}

export type PlanBody = {
  scope: PlanScope
  /** The container's entry in `loops` or `parallels` of the document, with references filled in. */
  settings: (frame: Frame) => Record<string, unknown>
  condition: ((frame: Frame) => Evaluate) | undefined
}

/**
 * `triggers`: those without errors of their own, even if the rest of the document has some. `environmentUses`: the
 * places that read environment variables.
 */
export type Compilation = {
  plan: Plan | undefined
  triggers: Plan['triggers']
  findings: Finding[]
  environmentUses: readonly EnvironmentUse[]
}

/**
 * Checks and compiles a document. There is no plan when a finding is an error. `priceOf`: the prices of models; those
 * of the built-in table when absent.
 */
export function compilePlan(
  document: WorkflowDocument,
  registry: Registry,
  limits: Limits,
  priceOf?: PriceOf,
): Compilation {
  return finish(compileInSlices(document, registry, limits, priceOf))
}

/** The same in steps of about 10 ms at most, because a document has up to 2 MB. */
export function* compileInSlices(
  document: WorkflowDocument,
  registry: Registry,
  limits: Limits,
  priceOf: PriceOf = pricesWith(new Map()),
): Slices<Compilation> {
  const { graph, findings } = yield* arrange(document, registry, limits)
  const report = new Report()
  const declared = Object.entries(document.variables ?? {})
  const names = new Set(declared.map(([name]) => name))
  const resolver = new ReferenceResolver(graph, names, report, limits.documentReferencesMax)
  const compiler = new Compiler(
    { resolver, report, facts: { limits, variables: names, priceOf }, checks: new Map() },
    document,
  )
  const root = yield* compiler.scope(graph.root)
  const variables = new Map<string, unknown>()
  for (const [name, variable] of declared) {
    yield
    variables.set(name, startOf(name, variable, report))
  }
  const writtenSecrets: Secret[] = []
  let mayPause = false
  for (const node of graph.nodes.values()) {
    yield
    mayPause ||= node.definition?.mayPause?.(node.block.params ?? {}, limits) === true
    for (const secret of yield* reportSecrets(node, report, resolver)) writtenSecrets.push(secret)
  }
  yield
  const startLimits = compileStartLimits(document, graph, report)
  const all = [...findings, ...report.findings, ...exposureFindings(document)]
  const errors = all.filter(({ level }) => level === 'error')
  const triggers = compiler.triggers(root, new Set(errors.map(({ blockId }) => blockId)))
  const { environmentNames, readBlocks, reads, references } = resolver
  const environmentUses = resolver.environmentUses.all
  if (errors.length > 0) return { plan: undefined, triggers, findings: all, environmentUses }
  const streams = streamsOf(root)
  const unreadStreams = new Set([...streams.keys()].filter((blockId) => !readBlocks.has(blockId)))
  const plan = {
    document,
    root,
    triggers,
    variables,
    limits: limitsIn(document),
    startLimits,
    mayPause,
    environmentNames,
    readBlocks,
    streams,
    unreadStreams,
    reads,
    references,
    writtenSecrets,
  }
  return { plan, triggers, findings: all, environmentUses }
}

function streamsOf(scope: PlanScope, streams = new Map<string, string>()): Map<string, string> {
  for (const { id, definition, body } of scope.nodes) {
    if (definition.streams !== undefined) streams.set(id, definition.streams)
    if (body) streamsOf(body.scope, streams)
  }
  return streams
}

class Compiler {
  readonly #context: CompileContext
  readonly #document: WorkflowDocument

  constructor(context: CompileContext, document: WorkflowDocument) {
    this.#context = context
    this.#document = document
  }

  *scope({ nodes }: GraphScope): Slices<PlanScope> {
    const planned: PlanNode[] = []
    for (const node of nodes) planned.push(yield* this.#node(node))
    return {
      nodes: planned,
      incoming: nodes.map((node) => node.incoming),
      entries: nodes.flatMap(({ slot, incoming, isStart }) => (incoming === 0 ? [{ slot, isStart }] : [])),
      joinedStarts: nodes.flatMap(({ slot, incoming, isStart }) => (incoming > 0 && isStart ? [slot] : [])),
    }
  }

  triggers({ nodes }: PlanScope, wrong: ReadonlySet<string | null>): Map<StartKind, PlanTrigger> {
    const triggers = new Map<StartKind, PlanTrigger>()
    for (const node of nodes) {
      const { starts, registers } = node.definition
      if (!starts || !node.enabled || wrong.has(node.id)) continue
      const params = writtenParameters(node.definition, this.#document.blocks[node.id]?.params ?? {})
      const format = readPath(params, [starts === 'form' ? 'fields' : 'inputFormat'])
      const fields = Array.isArray(format) ? (format as InputField[]) : []
      const fileFields = fields.filter(({ type }) => type === 'files').map(({ name }) => name)
      triggers.set(starts, { node, params, registration: registers?.(params) ?? {}, format: fields, fileFields })
    }
    return triggers
  }

  *#node(node: GraphNode): Slices<PlanNode> {
    const { block, definition } = node
    if (!definition.mayFail && node.outgoing.some(({ port }) => port === 'error')) {
      this.#context.report.add(
        'error',
        'NO_ERROR_EDGE',
        `blocks.${node.id}`,
        block,
        `"${block.name}" cannot have an error edge.`,
      )
    }
    return {
      slot: node.slot,
      id: node.id,
      name: block.name,
      type: definition.type,
      definition,
      enabled: block.enabled !== false,
      parameters: yield* compileParameters(node, this.#context),
      outgoing: node.outgoing.map(({ port, target }) => ({ port, target: target.slot })),
      hasErrorEdge: node.outgoing.some(({ port }) => port === 'error'),
      goesOnAfterError:
        !node.body && 'onError' in definition.parameters.properties && block.params?.['onError'] === 'continue',
      noOutputs: Object.fromEntries(definition.outputs.map((name) => [name, null])),
      body: node.body && (yield* this.#body(node, node.body)),
    }
  }

  *#body(node: GraphNode, scope: GraphScope): Slices<PlanBody> {
    const settings = this.#document[node.block.type === 'loop' ? 'loops' : 'parallels']?.[node.id]
    const path = `${node.block.type}s.${node.id}`
    const { report, facts } = this.#context
    checkContainer({
      node,
      settings: settings ?? {},
      known: settings !== undefined,
      path,
      report,
      limits: facts.limits,
    })
    const place = (name: string): Place => ({ node, scope: node.scope, path: `${path}.${name}` })
    const { condition, nodes: _nodes, id: _id, ...rest } = (settings ?? {}) as Record<string, unknown>
    const getters: [string, Getter][] = []
    for (const [name, value] of Object.entries(rest)) {
      yield
      const resolve: Resolve = (segment) => this.#context.resolver.resolve(segment, place(name))
      getters.push([name, getterOf(yield* compileValue(value, resolve))])
    }
    return {
      scope: yield* this.scope(scope),
      settings: (frame) => Object.fromEntries(getters.map(([name, get]) => [name, get(frame)])),
      // The scope of a loop's condition is its body: it reads the blocks of the latest iteration.
      condition:
        typeof condition === 'string' && condition.trim() !== ''
          ? yield* compileEvaluate(condition, { ...this.#context, place: { ...place('condition'), scope } })
          : undefined,
    }
  }
}

function startOf(name: string, { type, value }: Variable, report: Report): unknown {
  if (value === undefined || value === null) return null
  if (type !== 'string' && type !== 'number' && type !== 'boolean' && type !== 'object' && type !== 'array')
    return value
  const coerced = coerce(value, type)
  if (coerced === undefined) {
    report.add(
      'error',
      'INVALID_VARIABLE',
      `variables.${name}.value`,
      null,
      `The variable "${name}" is declared as ${type}, and its value cannot be converted to that type.`,
    )
  }
  return coerced
}
