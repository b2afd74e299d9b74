import type { Span } from '../domain/log.ts'
import type { Attempt } from './attempt.ts'
import type { Body, Iteration, IterationOutcome } from './block.ts'
import { Frame } from './frame.ts'
import type { Halt } from './halt.ts'
import { beginningOf } from './journal.ts'
import { openSpan } from './open-span.ts'
import type { PlanBody } from './plan.ts'
import type { ScopeEnd } from './walk.ts'

/** The inner blocks of one loop or parallel while it runs: each iteration has a frame, a stop and a span of its own. */
export class ContainerBody implements Body {
  readonly #start: Attempt
  readonly #body: PlanBody
  readonly #span: Span
  readonly #halts = new Set<Halt>()
  /** The frame of the latest iteration that ended: what the condition of a loop can read. */
  #latest: Frame | undefined

  constructor(start: Attempt, body: PlanBody, span: Span) {
    this.#start = start
    this.#body = body
    this.#span = span
  }

  get ended(): boolean {
    return this.#start.halt.stopped
  }

  settings(): Readonly<Record<string, unknown>> {
    return this.#body.settings(this.#start.frame)
  }

  condition(index: number): unknown | Promise<unknown> {
    const { run, frame, halt } = this.#start
    const seen = new Frame(run, frame, { index, currentItem: null, items: null }, this.#body.scope.nodes.length)
    for (const [slot, outputs] of (this.#latest?.outputs ?? []).entries()) seen.outputs[slot] = outputs
    return this.#body.condition?.(seen)(() => halt.signal)
  }

  iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome> {
    const wait = this.#start.run.breathe()
    return wait ? wait.then(() => this.#iterate(iteration)) : this.#iterate(iteration)
  }

  stop(): void {
    for (const halt of this.#halts) halt.stop(stoppedByContainer)
  }

  #iterate(iteration: Iteration): IterationOutcome | Promise<IterationOutcome> {
    const { run, frame: outer, halt: above, walk } = this.#start
    const { scope } = this.#body
    const halt = above.below()
    const frame = new Frame(run, outer, iteration, scope.nodes.length, this.#span.id)
    const span = this.#openSpan(iteration)
    this.#halts.add(halt)
    const ended = (end: ScopeEnd): IterationOutcome => {
      this.#halts.delete(halt)
      above.release(halt)
      this.#latest = frame
      return this.#close(span, end)
    }
    const end = walk({ run, scope, frame, halt, spans: span.children, trigger: undefined })
    return end instanceof Promise ? end.then(ended) : ended(end)
  }

  #openSpan({ index, currentItem }: Iteration): Span {
    const { run, node } = this.#start
    const span = openSpan(run, `${node.name} ${index}`, 'iteration', node.id)
    span.input = { index, currentItem }
    this.#span.children.push(span)
    return span
  }

  #close(span: Span, end: ScopeEnd): IterationOutcome {
    const { journal, powers } = this.#start.run
    if (journal) span.startTime = beginningOf(span)
    span.endTime = Math.max(span.startTime, powers.clock.now())
    span.durationMs = span.endTime - span.startTime
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
