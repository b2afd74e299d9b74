import { put } from '../domain/input.ts'
import type { Span } from '../domain/log.ts'
import { attempt, type BlockEnd } from './attempt.ts'
import type { BlockErrorData } from './block.ts'
import { blockPlaceOf } from './block-attempt.ts'
import type { Frame } from './frame.ts'
import type { Halt } from './halt.ts'
import { openSpan } from './open-span.ts'
import type { PlanNode, PlanScope } from './plan.ts'
import type { Run } from './run.ts'

/** How one pass through a scope ended. `stopped`: something outside of it ended the run. */
export type ScopeEnd =
  | { kind: 'completed'; output: unknown }
  | { kind: 'failed'; node: PlanNode; error: BlockErrorData }
  | { kind: 'stopped' }

export type WalkScope = (start: ScopeWalk) => ScopeEnd | Promise<ScopeEnd>

export type ScopeWalk = {
  run: Run
  scope: PlanScope
  frame: Frame
  halt: Halt
  /** Where the spans of this scope's blocks go. */
  spans: Span[]
  /** The trigger that started the run; undefined inside a container. */
  trigger: PlanNode | undefined
}

/**
 * Walks one scope. A block starts when each of its incoming edges is decided and at least one is taken; when all are
 * dead it is skipped, and its own edges are dead. Edges are decided when their source ends: those of the handle it left
 * by are taken, the others dead. So every block is decided exactly once, and a join waits for live edges only.
 *
 * A block that fails for good stops the scope: nothing more starts, what runs is aborted, and the walk ends when all of
 * it has stopped. As long as no block has to wait, the whole walk is one synchronous call.
 */
export function walk(start: ScopeWalk): ScopeEnd | Promise<ScopeEnd> {
  return new Walk(start).begin()
}

class Walk {
  readonly #start: ScopeWalk
  /** Edges not decided yet, by slot. */
  readonly #undecided: number[]
  /** Whether any incoming edge was taken, by slot. */
  readonly #taken: boolean[]
  /** Slots whose edges are all decided, in the order in which that came about. */
  readonly #decided: number[] = []
  /** Blocks that ran and led nowhere further. */
  readonly #ends: PlanNode[] = []
  #running = 0
  #failed: { node: PlanNode; error: BlockErrorData } | undefined
  #resolve: ((end: ScopeEnd) => void) | undefined
  #reject: ((bug: unknown) => void) | undefined

  constructor(start: ScopeWalk) {
    this.#start = start
    this.#undecided = start.scope.incoming.slice()
    this.#taken = new Array<boolean>(start.scope.nodes.length).fill(false)
  }

  begin(): ScopeEnd | Promise<ScopeEnd> {
    const { scope, trigger } = this.#start
    for (const slot of scope.joinedStarts) this.#taken[slot] = true
    for (const { slot, isStart } of scope.entries) {
      if (isStart || slot === trigger?.slot) this.#taken[slot] = true
      this.#decided.push(slot)
    }
    this.#advance()
    if (this.#running === 0) return this.#end()
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  #advance(): void {
    const { scope, halt, run } = this.#start
    const within = run.partial?.within
    // The list grows while it is gone through: what a block decides is walked in the same call.
    for (let slot = this.#decided.shift(); slot !== undefined; slot = this.#decided.shift()) {
      if (halt.stopped) {
        this.#decided.length = 0
        return
      }
      const node = scope.nodes[slot] as PlanNode
      if (within && !within.has(node.id)) continue
      if (this.#taken[slot]) this.#run(node)
      else this.#skip(node)
    }
  }

  #run(node: PlanNode): void {
    const { run, frame, halt, spans } = this.#start
    const ending = attempt({ run, frame, halt, spans, node, walk })
    if (!(ending instanceof Promise)) {
      this.#settle(node, ending)
      return
    }
    this.#running += 1
    ending
      .then((end) => {
        this.#running -= 1
        this.#settle(node, end)
        this.#advance()
        if (this.#running === 0) this.#resolve?.(this.#end())
      })
      .catch((bug: unknown) => {
        this.#start.halt.stop(bug)
        this.#reject?.(bug)
      })
  }

  #settle(node: PlanNode, end: BlockEnd): void {
    if (end.kind === 'cancelled') return
    if (end.kind === 'failed') {
      this.#failed ??= { node, error: end.error }
      this.#start.halt.stop(end.error)
      return
    }
    this.#start.frame.outputs[node.slot] = end.outputs
    if (!this.#follow(node, end.port)) this.#ends.push(node)
  }

  #skip(node: PlanNode): void {
    const { run, frame, spans } = this.#start
    const span = openSpan(run, node.name, node.type, node.id)
    span.status = 'skipped'
    spans.push(span)
    run.observer?.ended?.(span, blockPlaceOf({ run, frame }))
    this.#follow(node, undefined)
  }

  /** Decides the edges that leave a block. Whether any was taken. */
  #follow({ outgoing }: PlanNode, port: string | undefined): boolean {
    let followed = false
    for (const edge of outgoing) {
      if (edge.port === port) {
        followed = true
        this.#taken[edge.target] = true
      }
      const left = (this.#undecided[edge.target] as number) - 1
      this.#undecided[edge.target] = left
      if (left === 0) this.#decided.push(edge.target)
    }
    return followed
  }

  #end(): ScopeEnd {
    const { halt } = this.#start
    if (this.#failed) return { kind: 'failed', ...this.#failed }
    if (halt.stopped) return { kind: 'stopped' }
    return { kind: 'completed', output: this.#output() }
  }

  /** The outputs of the last block; of several, an object by their names, in an order that no speed decides. */
  #output(): unknown {
    const { outputs } = this.#start.frame
    const [first] = this.#ends
    if (this.#ends.length <= 1) return first ? (outputs[first.slot] ?? null) : null
    const byName: Record<string, unknown> = {}
    for (const node of this.#ends.sort((a, b) => a.slot - b.slot)) put(byName, node.name, outputs[node.slot] ?? null)
    return byName
  }
}
