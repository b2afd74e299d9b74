// Long because it implements everything that a block may use.
import type { Clock } from '../../domain/clock.ts'
import type { Connector } from '../../domain/connector/connector.ts'
import type { RedisRequest } from '../../domain/database/redis.ts'
import type { SqlRequest, SqlResult } from '../../domain/database/sql.ts'
import type { DoFormatWork } from '../../domain/format/format-work.ts'
import type { Limits } from '../../domain/limits.ts'
import type { Mail, SentMail } from '../../domain/mail/mail.ts'
import { OutboundError, type OutboundFetch, type RequestAuthorization } from '../../domain/outbound-request.ts'
import { costOf, type ModelUsage } from '../../domain/run/cost.ts'
import type { Span, SpanNotes, SpanPause } from '../../domain/run/log.ts'
import type { Models } from '../../domain/run/model-call.ts'
import type { PriceOf } from '../../domain/run/model-prices.ts'
import type { OpenPause, PauseOutcome, PauseRequest } from '../../domain/run/pause.ts'
import type { RunProgram } from '../../domain/run/program.ts'
import type { AgentEvent, BlockPlace } from '../../domain/run/run-observer.ts'
import type { InSlices } from '../../domain/slices.ts'
import {
  type BlockEntries,
  BlockError,
  type BlockFiles,
  type Body,
  type HeldMemory,
  type Outputs,
  type PartContext,
  type RunFacts,
  type SubRunOutcome,
  type WorkflowDescription,
} from '../block.ts'
import type { PlanNode } from '../compile/plan.ts'
import { askDatabase } from '../database-call.ts'
import { mcpServerOf } from '../mcp-server.ts'
import { entriesOf } from '../run-entries.ts'
import type { CancellationScope } from './cancellation-scope.ts'
import type { ContainerBody } from './contracts.ts'
import type { Frame } from './frame.ts'
import { RunHeldMemory } from './held-memory.ts'
import type { Run } from './run.ts'
import { RunFiles } from './run-files.ts'
import { addLabels } from './run-labels.ts'
import { cannotPause, sleepUntil, tokenIn } from './run-pauses.ts'
import { closeSpan, openSpan, renumbered } from './spans.ts'
import { modelsOf, withTrace } from './trace-header.ts'

/** One execution of one block: which block, and where in which run. */
export type BlockExecution = {
  run: Run
  frame: Frame
  cancellation: CancellationScope
  /** Where the span of the block goes. */
  spans: Span[]
  node: PlanNode
  /** Set for a loop or parallel. */
  body: ContainerBody | undefined
  /** Goes along a handle before the block has ended. Undefined when the block runs alone. */
  lead?: (port: string, outputs: Outputs) => void
  /** Goes along such a handle again. */
  repeat?: (port: string, number: number, isOver: boolean) => void
}

/** The context of one running block. Each member is created when the block first asks for it. */
export class BlockContextImpl implements PartContext {
  readonly #execution: BlockExecution
  readonly #span: Span
  /** Which part of the block this is; empty for the block itself. */
  readonly #part: string
  /** The id of the block's own span, also in its parts. */
  readonly #blockSpanId: string
  #parts = 0

  constructor(execution: BlockExecution, span: Span, part = '', blockSpanId = span.id) {
    this.#execution = execution
    this.#span = span
    this.#part = part
    this.#blockSpanId = blockSpanId
  }

  get block() {
    return this.#execution.node
  }

  get run(): RunFacts {
    return this.#execution.run.facts
  }

  get signal(): AbortSignal {
    return this.#execution.cancellation.signal
  }

  get clock(): Clock {
    return this.#execution.run.capabilities.clock
  }

  get limits(): Limits {
    return this.#execution.run.capabilities.limits
  }

  get input() {
    return this.#execution.run.input
  }

  get fetch(): OutboundFetch {
    const { run, node } = this.#execution
    const { redactor } = run.environment
    const { workspaceId } = run.facts
    return async (request) => {
      const reading = new RunHeldMemory(run)
      try {
        const headers = withTrace(request.headers, run, this.#span)
        return await run.capabilities.fetch({
          ...{ ...request, headers, redactor, workspaceId, memory: reading },
          blockName: node.name,
        })
      } finally {
        reading.end()
      }
    }
  }

  holdMemory(): HeldMemory {
    return new RunHeldMemory(this.#execution.run)
  }

  async credential(name: string): Promise<RequestAuthorization> {
    const { run } = this.#execution
    const { workspaceId } = run.facts
    try {
      const found = await run.capabilities.credential?.(workspaceId, name, run.environment)
      if (found) return found
    } catch (error) {
      if (error instanceof OutboundError) throw new BlockError(error.code, error.message, error)
      throw error
    }
    throw new BlockError(
      'UNKNOWN_CREDENTIAL',
      `The workspace has no credential "${name}". Create it, or correct the name.`,
    )
  }

  async connector(id: string): Promise<Connector> {
    const { run } = this.#execution
    const found = await run.capabilities.connector?.(run.facts.workspaceId, id)
    if (found) return found
    throw new BlockError('UNKNOWN_CONNECTOR', `There is no connector "${id.slice(0, 100)}" in this workspace.`)
  }

  mcp(url: string, credential: string) {
    return mcpServerOf(this.#execution.run, this.#span, this, { url, credential })
  }

  async sendMail(mail: Mail, credential: string, timeoutMs: number): Promise<SentMail> {
    const { run, node } = this.#execution
    const { sendMail } = run.capabilities
    if (!sendMail) throw new Error('This service sends no e-mail')
    const access = { workspaceId: run.facts.workspaceId, environment: run.environment }
    return await sendMail(access, mail, { credential, timeoutMs, signal: this.signal, blockName: node.name })
  }

  sql(request: SqlRequest): Promise<SqlResult> {
    return askDatabase(this.#execution.run, this, (databases, caller) => databases.sql(request, caller))
  }

  redis(request: RedisRequest): Promise<unknown> {
    return askDatabase(this.#execution.run, this, (databases, caller) => databases.redis(request, caller))
  }

  get runProgram(): RunProgram {
    return this.#execution.run.runProgram
  }

  get doFormatWork(): DoFormatWork {
    return this.#execution.run.doFormatWork
  }

  get inSlices(): InSlices {
    return this.#execution.run.capabilities.inSlices
  }

  get variables(): Map<string, unknown> {
    return this.#execution.run.variables
  }

  get body(): Body | undefined {
    return this.#execution.body
  }

  random(): number {
    return this.#execution.run.capabilities.random()
  }

  async waitUntil(until: number): Promise<number> {
    const { run, node } = this.#execution
    const { pauses } = run.budget
    // The parts of a block, such as the tools of an agent, are not recorded, so they cannot pause.
    if (pauses && run.history && this.#part === '') {
      const at = { place: this.#place(), blockId: node.id, blockName: node.name }
      return await pauses.waitUntil(at, until, this.signal, this.#notePause)
    }
    const since = this.clock.now()
    await sleepUntil(this.clock, until, this.signal)
    return since
  }

  async pause(request: PauseRequest): Promise<PauseOutcome> {
    const { run, node } = this.#execution
    const { pauses } = run.budget
    if (!pauses || !run.history || this.#part !== '') throw new BlockError('CANNOT_PAUSE', cannotPause)
    const place = request.within === undefined ? this.#place() : `${this.#place()}?${request.within}`
    const at = { place, blockId: node.id, blockName: node.name }
    const opened = (pause: OpenPause) => {
      // The log must not show a link at which anyone can answer.
      run.history?.addSecret({ name: 'PAUSE_LINK', value: tokenIn(pause.callbackUrl) })
      request.opened(pause)
    }
    return await pauses.pause(at, { ...request, opened }, this.signal, this.#notePause)
  }

  readonly #notePause = (pause: SpanPause): void => {
    const { pauses = [] } = this.#span
    if (pauses.every(({ contextId }) => contextId !== pause.contextId)) this.#span.pauses = [...pauses, pause]
    // In a run that was out of memory, the block has begun again after the pause.
    this.#span.startTime = Math.min(this.#span.startTime, pause.since)
  }

  async keep(kept: unknown): Promise<void> {
    await this.#execution.run.history?.keep(this.#place(), { kept, children: this.#span.children })
  }

  kept(): unknown {
    const { run } = this.#execution
    const found = run.history?.kept(this.#place()) as { kept: unknown; children: readonly Span[] } | undefined
    if (!found) return undefined
    this.#span.children.push(...found.children.map((child) => renumbered(run, child)))
    return found.kept
  }

  lead(port: string, outputs: Outputs): void {
    this.#execution.lead?.(port, outputs)
  }

  repeat(port: string, number: number, isOver: boolean): void {
    this.#execution.repeat?.(port, number, isOver)
  }

  idempotencyKey(): string {
    return new Bun.CryptoHasher('sha256').update(this.#place()).digest('hex').slice(0, 32)
  }

  note({ children, ...notes }: SpanNotes): void {
    Object.assign(this.#span, notes)
    if (children) this.#span.children.push(...children)
  }

  part(name: string, type: string, within?: string): PartContext {
    const { run, node } = this.#execution
    const span = openSpan(run, name, type, node.id)
    this.#span.children.push(span)
    this.#parts += 1
    return new BlockContextImpl(this.#execution, span, `${this.#part}#${within ?? this.#parts}`, this.#blockSpanId)
  }

  end(notes: SpanNotes): void {
    this.note(notes)
    closeSpan(this.#execution.run, this.#span)
  }

  get files(): BlockFiles {
    const { budget, facts, capabilities } = this.#execution.run
    const { workflowId, files } = budget.root
    budget.files ??= new RunFiles({ ...facts, workflowId }, capabilities.files, files)
    return budget.files
  }

  get entries(): BlockEntries {
    return entriesOf(this.#execution.run, this.#place(), this.#part !== '')
  }

  get models(): Models {
    const { run, node } = this.#execution
    return modelsOf(run, this.#span, node.name)
  }

  get priceOf(): PriceOf {
    return this.#execution.run.capabilities.priceOf
  }

  async spend(usage: ModelUsage): Promise<void> {
    await this.#execution.run.budget.spend(costOf(usage))
  }

  chunk(text: string): void {
    this.#execution.run.observer?.chunk?.(this.#span, text, blockPlaceOf(this.#execution))
  }

  agentEvent(event: AgentEvent): void {
    this.#execution.run.observer?.agent?.(this.#span, event, blockPlaceOf(this.#execution))
  }

  label(labels: Readonly<Record<string, unknown>>): void {
    addLabels(this.#execution.run.budget, labels)
  }

  runWorkflow(workflowId: string, input: Record<string, unknown>): Promise<SubRunOutcome> {
    const { run, cancellation } = this.#execution
    // A model may ask for something else the next time, so what a part of a block runs is not recorded.
    const history = this.#part === '' ? run.history : undefined
    const from = { place: this.#place(), callerId: this.#blockSpanId, children: this.#span.children }
    return run.capabilities.runWorkflow({ run, cancellation, workflowId, input, history, ...from })
  }

  describeWorkflow(workflowId: string): Promise<WorkflowDescription> {
    return this.#execution.run.capabilities.describeWorkflow(workflowId, this.run.workspaceId)
  }

  #place(): string {
    return placeOf(this.#execution) + this.#part
  }
}

/** Identifies an execution of a block within its run: the same text when the block runs again after a crash. */
export function placeOf({ run, node, frame }: Pick<BlockExecution, 'run' | 'node' | 'frame'>): string {
  return `${run.place || run.facts.executionId}/${node.id}/${iterationsOf(frame).join('.')}${frame.repeats}`
}

/** The same for observers. */
export function blockPlaceOf({ run, frame }: Pick<BlockExecution, 'run' | 'frame'>): BlockPlace {
  const parentId = frame.containerId ?? run.callerId
  return { depth: run.depth, iterations: iterationsOf(frame).reverse(), parentId }
}

/** Innermost first. */
function iterationsOf(frame: Frame): number[] {
  const indexes: number[] = []
  for (let current = frame; current.parent; current = current.parent) indexes.push(current.iteration?.index ?? 0)
  return indexes
}
