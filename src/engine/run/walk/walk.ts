import { setMember } from '../../../domain/run/input.ts'
import type { Span } from '../../../domain/run/log.ts'
import type { BlockErrorData, Outputs } from '../../block.ts'
import type { PlanNode } from '../../compile/plan.ts'
import { type BlockExecution, blockPlaceOf, placeOf } from '../block-context.ts'
import type { BlockEnd, ScopeEnd } from '../contracts.ts'
import { executeBlock } from '../execute-block.ts'
import { Frame } from '../frame.ts'
import type { Run } from '../run.ts'
import { openSpan } from '../spans.ts'
import { edgesWithin, slotsBehind } from './repeated-scope.ts'
import { type ScopeContext, type ScopeWalk, WalkedBody } from './walked-body.ts'

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
  early?: Pick<BlockExecution, 'lead' | 'repeat'>,
): BlockEnd | Promise<BlockEnd> {
  const { run, frame, cancellation, spans } = context
  const body = node.body && new WalkedBody(context, node, node.body, walk)
  return executeBlock({ run, frame, cancellation, spans, node, body, ...early })
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
    this.#unresolved = start.again ? edgesWithin(start.scope, start.again) : start.scope.incoming.slice()
    this.#taken = new Array<boolean>(start.scope.nodes.length).fill(false)
  }

  begin(): ScopeEnd | Promise<ScopeEnd> {
    const { scope, trigger, again } = this.#start
    if (again) this.#goAlong(again.node, again.port)
    else {
      for (const slot of scope.joinedStarts) this.#taken[slot] = true
      for (const { slot, isStart } of scope.entries) {
        if (isStart || slot === trigger?.slot) this.#taken[slot] = true
        this.#resolved.push(slot)
      }
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
    const { run, frame, again } = this.#start
    if (again?.onlyRecorded && !run.history?.block(placeOf({ run, node, frame }))) return
    const early = node.definition.ports?.ahead === undefined ? undefined : this.#earlyOf(node)
    const ending = executeNode(this.#start, node, early)
    if (!(ending instanceof Promise)) {
      this.#settle(node, ending)
      return
    }
    this.#running += 1
    // The blocks inside a container count for themselves.
    const pauses = node.body ? undefined : run.budget.pauses
    pauses?.begin()
    this.#whenEnded(ending, (end) => {
      this.#settle(node, end)
      this.#advance()
      pauses?.end()
    })
  }

  #whenEnded<End>(ending: Promise<End>, ended: (end: End) => void): void {
    ending
      .then((end) => {
        this.#running -= 1
        ended(end)
        if (this.#running === 0) this.#resolve?.(this.#end())
      })
      .catch((bug: unknown) => {
        this.#start.cancellation.cancel(bug)
        this.#reject?.(bug)
      })
  }

  #earlyOf(node: PlanNode): Pick<BlockExecution, 'lead' | 'repeat'> {
    return {
      lead: (port, outputs) => this.#lead(node, port, outputs),
      repeat: (port, number, isOver) => this.#repeat(node, port, number, isOver),
    }
  }

  /** A failure of these blocks is in their spans, and has no other effect. */
  #repeat(node: PlanNode, port: string, number: number, onlyRecorded: boolean): void {
    const { run, scope, frame, cancellation: above, spans } = this.#start
    const slots = slotsBehind(scope, node, port)
    const cancellation = above.child()
    const again = { node, port, slots, onlyRecorded }
    const ending = walk({ run, scope, frame: frame.repeated(number), cancellation, spans, trigger: undefined, again })
    const ended = () => above.release(cancellation)
    if (!(ending instanceof Promise)) {
      ended()
      return
    }
    this.#running += 1
    this.#whenEnded(ending, ended)
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
    this.#goAlong(node, port)
    this.#ahead.add(node.slot)
    this.#advance()
  }

  #goAlong(node: PlanNode, port: string): void {
    for (const edge of node.outgoing) if (edge.port === port) this.#resolveEdge(node, edge, true)
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
    if (this.#start.again?.slots.has(target) === false) return
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
