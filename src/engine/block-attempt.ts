import type { Clock } from '../domain/clock.ts'
import { costOf, type ModelUsage } from '../domain/cost.ts'
import type { Limits } from '../domain/limits.ts'
import type { Span, SpanNotes } from '../domain/log.ts'
import type { Models } from '../domain/model-call.ts'
import type { PriceOf } from '../domain/model-prices.ts'
import type { OutboundFetch } from '../domain/outbound-request.ts'
import type { RunProgram } from '../domain/program.ts'
import type { BlockPlace } from '../domain/run-observer.ts'
import type { Attempt } from './attempt.ts'
import type { BlockFiles, Body, PartContext, RunFacts, SubRunOutcome, WorkflowDescription } from './block.ts'
import { ContainerBody } from './container-body.ts'
import type { Frame } from './frame.ts'
import { openSpan } from './open-span.ts'
import { RunFiles } from './run-files.ts'

/** What one block sees while it runs. Everything in it is made when the block asks for it. */
export class BlockAttempt implements PartContext {
  readonly #start: Attempt
  readonly #span: Span
  /** Which part of the block it is; empty for the block itself. */
  readonly #part: string
  /** The id of the block's own span, in all parts of it. */
  readonly #blockSpanId: string
  #parts = 0
  #body: Body | undefined

  constructor(start: Attempt, span: Span, part = '', blockSpanId = span.id) {
    this.#start = start
    this.#span = span
    this.#part = part
    this.#blockSpanId = blockSpanId
  }

  get block() {
    return this.#start.node
  }

  get run(): RunFacts {
    return this.#start.run.facts
  }

  get signal(): AbortSignal {
    return this.#start.halt.signal
  }

  get clock(): Clock {
    return this.#start.run.powers.clock
  }

  get limits(): Limits {
    return this.#start.run.powers.limits
  }

  get input() {
    return this.#start.run.input
  }

  get fetch(): OutboundFetch {
    return this.#start.run.powers.fetch
  }

  get runProgram(): RunProgram {
    return this.#start.run.powers.runProgram
  }

  get variables(): Map<string, unknown> {
    return this.#start.run.variables
  }

  get body(): Body | undefined {
    const { body } = this.#start.node
    if (body && !this.#body) this.#body = new ContainerBody(this.#start, body, this.#span)
    return this.#body
  }

  random(): number {
    return this.#start.run.powers.random()
  }

  idempotencyKey(): string {
    return new Bun.CryptoHasher('sha256').update(this.#place()).digest('hex').slice(0, 32)
  }

  note({ children, ...notes }: SpanNotes): void {
    Object.assign(this.#span, notes)
    if (children) this.#span.children.push(...children)
  }

  part(name: string, type: string): PartContext {
    const { run, node } = this.#start
    const span = openSpan(run, name, type, node.id)
    this.#span.children.push(span)
    this.#parts += 1
    return new BlockAttempt(this.#start, span, `${this.#part}#${this.#parts}`, this.#blockSpanId)
  }

  end(notes: SpanNotes): void {
    this.note(notes)
    this.#span.endTime = Math.max(this.#span.startTime, this.clock.now())
    this.#span.durationMs = this.#span.endTime - this.#span.startTime
  }

  get files(): BlockFiles {
    const { run } = this.#start
    const { budget, facts, powers } = run
    budget.files ??= new RunFiles({ ...facts, workflowId: budget.root.workflowId }, powers.files, budget.root.files)
    return budget.files
  }

  get models(): Models {
    return this.#start.run.powers.models
  }

  get priceOf(): PriceOf {
    return this.#start.run.powers.priceOf
  }

  async spend(usage: ModelUsage): Promise<void> {
    await this.#start.run.budget.spend(costOf(usage))
  }

  chunk(text: string): void {
    this.#start.run.observer?.chunk?.(this.#span, text, blockPlaceOf(this.#start))
  }

  runWorkflow(workflowId: string, input: Record<string, unknown>): Promise<SubRunOutcome> {
    const { run, halt } = this.#start
    // What a model asks for may be something else the next time: of a part, nothing is kept.
    const journal = this.#part === '' ? run.journal : undefined
    const from = { place: this.#place(), callerId: this.#blockSpanId, children: this.#span.children }
    const call = { run, halt, workflowId, input, journal, ...from }
    return run.powers.runWorkflow(call)
  }

  describeWorkflow(workflowId: string): Promise<WorkflowDescription> {
    return this.#start.run.powers.describeWorkflow(workflowId, this.run.workspaceId)
  }

  #place(): string {
    return placeOf(this.#start) + this.#part
  }
}

/** Where a block stands in its run: the same when it has to run again after a crash. */
export function placeOf({ run, node, frame }: Pick<Attempt, 'run' | 'node' | 'frame'>): string {
  return `${run.place || run.facts.executionId}/${node.id}/${iterationsOf(frame).join('.')}`
}

/** The same for those who watch. */
export function blockPlaceOf({ run, frame }: Pick<Attempt, 'run' | 'frame'>): BlockPlace {
  const parentId = frame.containerId ?? run.callerId
  return { depth: run.depth, iterations: iterationsOf(frame).reverse(), parentId }
}

/** The innermost first. */
function iterationsOf(frame: Frame): number[] {
  const indexes: number[] = []
  for (let current = frame; current.parent; current = current.parent) indexes.push(current.iteration?.index ?? 0)
  return indexes
}
