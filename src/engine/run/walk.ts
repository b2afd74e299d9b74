import { setMember } from '../../domain/run/input.ts'
import type { Span } from '../../domain/run/log.ts'
import type { BlockErrorData, Iteration, IterationOutcome, Outputs } from '../block.ts'
import type { PlanBody, PlanNode, PlanScope } from '../compile/plan.ts'
import { type BlockExecution, blockPlaceOf } from './block-context.ts'
import type { CancellationScope } from './cancellation-scope.ts'
import type { BlockEnd, ContainerBody, ScopeEnd } from './contracts.ts'
import { executeBlock } from './execute-block.ts'
import { Frame } from './frame.ts'
import type { Run } from './run.ts'
import { closeSpan, openSpan } from './spans.ts'

/** Where blocks of one scope run. */
export type ScopeContext = {
  run: Run
  frame: Frame
  cancellation: CancellationScope
  /** Where the spans of this scope's blocks go. */
  spans: Span[]
}

type ScopeWalk = ScopeContext & {
  scope: PlanScope
  /** The trigger that started the run; undefined inside a container. */
  trigger: PlanNode | undefined
}

/** Walks a run, or a sub-run, from its trigger. */
export function walkRun(run: Run, trigger: PlanNode | undefined, root: Span): ScopeEnd | Promise<ScopeEnd> {
  const scope = run.plan.root
  const frame = new Frame(run, undefined, undefined, scope.nodes.length)
  return walk({ run, scope, frame, cancellation: run.cancellation, spans: root.children, trigger })
}

/** Executes one block of a scope. A container gets a body, which walks the scope inside it. */
export function executeNode(
  context: ScopeContext,
  node: PlanNode,
  lead?: BlockExecution['lead'],
): BlockEnd | Promise<BlockEnd> {
  const { run, frame, cancellation, spans } = context
  const body = node.body && new WalkedBody(context, node, node.body)
  return executeBlock({ run, frame, cancellation, spans, node, body, ...(lead && { lead }) })
}

/**
 * Walks one scope. A block starts when each of its incoming edges is resolved and at least one is taken; when all are
 * dead it is skipped, and its own edges are dead. Edges are resolved when their source ends: those of the handle it
 * left by are taken, the others dead. So every block is resolved exactly once, and a join waits for live edges only.
 *
 * A block that fails for good stops the scope: nothing more starts, what runs is aborted, and the walk ends when all of
 * it has stopped. As long as no block has to wait, the whole walk is one synchronous call.
 */
function walk(start: ScopeWalk): ScopeEnd | Promise<ScopeEnd> {
  return new Walk(start).begin()
}

class Walk {
  readonly #start: ScopeWalk
  /** The number of edges that are not resolved yet, by slot. */
  readonly #unresolved: number[]
  /** Whether any incoming edge was taken, by slot. */
  readonly #taken: boolean[]
  /** Slots whose edges are all resolved, in the order in which that happened. */
  readonly #resolved: number[] = []
  /** Blocks that ran and led nowhere further. */
  readonly #ends: PlanNode[] = []
  /** Slots of blocks that have not ended, but whose edges ahead are resolved. */
  readonly #ahead = new Set<number>()
  /** Slots of blocks that only such an edge leads to. Their outputs are not those of the scope. */
  readonly #aside = new Set<number>()
  #running = 0
  #failed: { node: PlanNode; error: BlockErrorData } | undefined
  #resolve: ((end: ScopeEnd) => void) | undefined
  #reject: ((bug: unknown) => void) | undefined

  constructor(start: ScopeWalk) {
    this.#start = start
    this.#unresolved = start.scope.incoming.slice()
    this.#taken = new Array<boolean>(start.scope.nodes.length).fill(false)
  }

  begin(): ScopeEnd | Promise<ScopeEnd> {
    const { scope, trigger } = this.#start
    for (const slot of scope.joinedStarts) this.#taken[slot] = true
    for (const { slot, isStart } of scope.entries) {
      if (isStart || slot === trigger?.slot) this.#taken[slot] = true
      this.#resolved.push(slot)
    }
    this.#advance()
    if (this.#running === 0) return this.#end()
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  #advance(): void {
    const { scope, cancellation, run } = this.#start
    const within = run.partial?.within
    // The list grows while this loop reads it: a block that ends at once resolves others in the same call.
    for (let slot = this.#resolved.shift(); slot !== undefined; slot = this.#resolved.shift()) {
      if (cancellation.isCancelled) {
        this.#resolved.length = 0
        return
      }
      const node = scope.nodes[slot] as PlanNode
      if (within && !within.has(node.id)) continue
      if (this.#taken[slot]) this.#run(node)
      else this.#skip(node)
    }
  }

  #run(node: PlanNode): void {
    const leads = node.definition.ports?.ahead !== undefined
    const lead = leads ? (port: string, outputs: Outputs) => this.#lead(node, port, outputs) : undefined
    const ending = executeNode(this.#start, node, lead)
    if (!(ending instanceof Promise)) {
      this.#settle(node, ending)
      return
    }
    this.#running += 1
    // The blocks inside a container count for themselves.
    const pauses = node.body ? undefined : this.#start.run.budget.pauses
    pauses?.begin()
    ending
      .then((end) => {
        this.#running -= 1
        this.#settle(node, end)
        this.#advance()
        pauses?.end()
        if (this.#running === 0) this.#resolve?.(this.#end())
      })
      .catch((bug: unknown) => {
        this.#start.cancellation.cancel(bug)
        this.#reject?.(bug)
      })
  }

  #settle(node: PlanNode, end: BlockEnd): void {
    if (end.kind === 'cancelled') return
    if (end.kind === 'failed') {
      this.#failed ??= { node, error: end.error }
      this.#start.cancellation.cancel(end.error)
      return
    }
    this.#start.frame.outputs[node.slot] = end.outputs
    if (!this.#follow(node, end.port) && !this.#aside.has(node.slot)) this.#ends.push(node)
  }

  /** Goes along a handle of a block that has not ended, with the outputs that it has until then. */
  #lead(node: PlanNode, port: string, outputs: Outputs): void {
    this.#start.frame.outputs[node.slot] = outputs
    for (const edge of node.outgoing) if (edge.port === port) this.#resolveEdge(node, edge, true)
    this.#ahead.add(node.slot)
    this.#advance()
  }

  #skip(node: PlanNode): void {
    const { run, frame, spans } = this.#start
    const span = openSpan(run, node.name, node.type, node.id)
    span.status = 'skipped'
    spans.push(span)
    run.observer?.ended?.(span, blockPlaceOf({ run, frame }))
    this.#follow(node, undefined)
  }

  /** Resolves the edges that leave a block. Returns whether any was taken. */
  #follow(node: PlanNode, port: string | undefined): boolean {
    const ahead = this.#ahead.has(node.slot) ? node.definition.ports?.ahead : undefined
    let followed = false
    for (const edge of node.outgoing) {
      if (edge.port === ahead && ahead !== undefined) continue
      followed ||= edge.port === port
      this.#resolveEdge(node, edge, edge.port === port)
    }
    return followed
  }

  #resolveEdge(node: PlanNode, { port, target }: PlanNode['outgoing'][number], isTaken: boolean): void {
    if (isTaken) {
      const isAside = port === node.definition.ports?.ahead || this.#aside.has(node.slot)
      if (isAside && !this.#taken[target]) this.#aside.add(target)
      if (!isAside) this.#aside.delete(target)
      this.#taken[target] = true
    }
    const left = (this.#unresolved[target] as number) - 1
    this.#unresolved[target] = left
    if (left === 0) this.#resolved.push(target)
  }

  #end(): ScopeEnd {
    const { cancellation } = this.#start
    if (this.#failed) return { kind: 'failed', ...this.#failed }
    if (cancellation.isCancelled) return { kind: 'stopped' }
    return { kind: 'completed', output: this.#output() }
  }

  /** The outputs of the last block; with several last blocks, an object by their names, always in the same order. */
  #output(): unknown {
    const { outputs } = this.#start.frame
    const [first] = this.#ends
    if (this.#ends.length <= 1) return first ? (outputs[first.slot] ?? null) : null
    const byName: Record<string, unknown> = {}
    for (const node of this.#ends.sort((a, b) => a.slot - b.slot))
      setMember(byName, node.name, outputs[node.slot] ?? null)
    return byName
  }
}

/**
 * The inner blocks of one loop or parallel during one execution of it. Each iteration has a frame, a cancellation scope
 * and a span of its own.
 */
class WalkedBody implements ContainerBody {
  readonly #context: ScopeContext
  readonly #node: PlanNode
  readonly #body: PlanBody
  readonly #running = new Set<CancellationScope>()
  /** The container's own; set by `open`. */
  #span!: Span
  /** The frame of the latest iteration that ended: what the condition of a loop can read. */
  #latest: Frame | undefined

  constructor(context: ScopeContext, node: PlanNode, body: PlanBody) {
    this.#context = context
    this.#node = node
    this.#body = body
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
    const end = walk({ run, scope, frame, cancellation, spans: span.children, trigger: undefined })
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
