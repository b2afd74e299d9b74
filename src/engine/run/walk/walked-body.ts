import type { Span } from '../../../domain/run/log.ts'
import type { Iteration, IterationOutcome } from '../../block.ts'
import type { PlanBody, PlanNode, PlanScope } from '../../compile/plan.ts'
import type { CancellationScope } from '../cancellation-scope.ts'
import type { ContainerBody, ScopeEnd } from '../contracts.ts'
import { Frame } from '../frame.ts'
import type { Run } from '../run.ts'
import { closeSpan, openSpan } from '../spans.ts'

/** The run, frame, cancellation and spans that the blocks of one scope share. */
export type ScopeContext = {
  run: Run
  frame: Frame
  cancellation: CancellationScope
  /** The list that the spans of this scope's blocks are added to. */
  spans: Span[]
}

export type ScopeWalk = ScopeContext & {
  scope: PlanScope
  /** The trigger that started the run; undefined inside a container. */
  trigger: PlanNode | undefined
  /** Set for a repetition: only the blocks behind one handle run. */
  again?: Again
}

/** A repetition. `onlyRecorded`: only blocks with a recorded step are restored, so nothing new happens. */
export type Again = { node: PlanNode; port: string; slots: ReadonlySet<number>; onlyRecorded: boolean }

type WalkScope = (start: ScopeWalk) => ScopeEnd | Promise<ScopeEnd>

/**
 * The inner blocks of one loop or parallel during one execution of it. Each iteration has a frame, a cancellation scope
 * and a span of its own.
 */
export class WalkedBody implements ContainerBody {
  readonly #context: ScopeContext
  readonly #node: PlanNode
  readonly #body: PlanBody
  readonly #walk: WalkScope
  readonly #running = new Set<CancellationScope>()
  /** The span of the container; set by `open`. */
  #span!: Span
  /** The frame of the latest iteration that ended: what the condition of a loop can read. */
  #latest: Frame | undefined

  constructor(context: ScopeContext, node: PlanNode, body: PlanBody, walk: WalkScope) {
    this.#context = context
    this.#node = node
    this.#body = body
    this.#walk = walk
  }

  open(span: Span): void {
    this.#span = span
  }

  get ended(): boolean {
    return this.#context.cancellation.isCancelled
  }

  settings(): Readonly<Record<string, unknown>> {
    return this.#body.settings(this.#context.frame)
  }

  condition(index: number): unknown | Promise<unknown> {
    const { run, frame, cancellation } = this.#context
    const seen = new Frame(run, frame, { index, currentItem: null, items: null }, this.#body.scope.nodes.length)
    for (const [slot, outputs] of (this.#latest?.outputs ?? []).entries()) seen.outputs[slot] = outputs
    return this.#body.condition?.(seen)(() => cancellation.signal)
  }

  iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome> {
    const wait = this.#context.run.yieldWhenDue()
    return wait ? wait.then(() => this.#iterate(iteration)) : this.#iterate(iteration)
  }

  stop(): void {
    for (const cancellation of this.#running) cancellation.cancel(stoppedByContainer)
  }

  #iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome> {
    const { run, frame: outer, cancellation: above } = this.#context
    const { scope } = this.#body
    const cancellation = above.child()
    const frame = new Frame(run, outer, iteration, scope.nodes.length, this.#span.id)
    const span = this.#openSpan(iteration)
    this.#running.add(cancellation)
    const ended = (end: ScopeEnd): IterationOutcome => {
      this.#running.delete(cancellation)
      above.release(cancellation)
      this.#latest = frame
      return this.#close(span, end)
    }
    const end = this.#walk({ run, scope, frame, cancellation, spans: span.children, trigger: undefined })
    return end instanceof Promise ? end.then(ended) : ended(end)
  }

  #openSpan({ index, currentItem }: Iteration): Span {
    const span = openSpan(this.#context.run, `${this.#node.name} ${index}`, 'iteration', this.#node.id)
    span.input = { index, currentItem }
    this.#span.children.push(span)
    return span
  }

  #close(span: Span, end: ScopeEnd): IterationOutcome {
    closeSpan(this.#context.run, span)
    if (end.kind === 'completed') {
      span.output = end.output
      return { ok: true, output: end.output }
    }
    if (end.kind === 'stopped') {
      span.status = 'cancelled'
      return { ok: false, error: { code: 'CANCELLED', message: 'The iteration was stopped.' } }
    }
    const { node, error } = end
    span.status = 'error'
    span.error = { code: error.code, message: error.message }
    return { ok: false, error: { blockId: node.id, blockName: node.name, ...error } }
  }
}

const stoppedByContainer = Symbol('stopped by its container')
