import { AppError, type ErrorDetail } from '../domain/errors.ts'
import type { Span } from '../domain/log.ts'
import type { PartialRun } from './partial.ts'
import type { PastRun } from './past-run.ts'
import type { Plan, PlanNode } from './plan.ts'
import { idsInside, type PlanStep, pathsOf, slotsAfter, slotsBefore } from './plan-path.ts'

/** A block, and in which iteration of each loop and parallel around it, the outermost first. */
export type BlockChoice = { blockId: string; iterations?: readonly number[] | undefined }

/** Which part of a workflow is to run. */
export type PartialWish = {
  /** This block and what comes behind it run; before it, what the earlier run gave is taken. */
  from?: BlockChoice | undefined
  /** The run ends with this block; what it does not need is left out. */
  until?: string | undefined
  /** This block alone runs. */
  only?: BlockChoice | undefined
}

/**
 * Decides which blocks of a plan run, and which take over what they gave in `past`. Throws `INVALID_INPUT` for a block
 * that is not there, and `CONFLICT` when a block that is to run reads what the earlier run's log entry does not hold.
 *
 * Everything that a run can come to behind the block in `from` runs again; everything else is taken over, whether it
 * stood before that block or beside it, if it ended well enough for the run to go on. In a loop, the iterations before
 * the chosen one are taken over and those after it run again; of a parallel, the chosen one alone runs again, or all
 * when none is chosen. A response block is never taken over: it has nothing but what others gave, and ends the run.
 */
export function planPartial(plan: Plan, wish: PartialWish, past: PastRun | undefined): PartialRun {
  const paths = pathsOf(plan)
  const pathTo = (blockId: string, member: string): readonly PlanStep[] => {
    const path = paths.get(blockId)
    if (path) return path
    const message = `There is no block "${blockId}" in this workflow.`
    throw new AppError('INVALID_INPUT', message, { details: [{ path: member, message }] })
  }
  const chosen = wish.only ?? wish.from
  const way = chosen && new Way(plan, pathTo(chosen.blockId, wish.only ? 'only' : 'from'), chosen, past, wish)
  if (way && past) way.assertWhole(paths)
  return {
    reused: (node, iterations) => way?.reused(node, iterations, paths),
    within: wish.until === undefined ? undefined : idsBefore(pathTo(wish.until, 'until')),
    until: wish.until,
    only: wish.only && way ? { steps: way.steps, iterations: way.iterations, before: way.before(paths) } : undefined,
  }
}

/** What lies before the chosen block and beside it, and what behind it. */
class Way {
  readonly steps: readonly PlanStep[]
  readonly iterations: readonly number[]
  readonly #plan: Plan
  readonly #past: PastRun | undefined
  readonly #isAlone: boolean
  /** Whether an iteration was named: then other branches of a parallel are taken over. */
  readonly #isNamed: boolean
  readonly #after: readonly ReadonlySet<number>[]

  constructor(
    plan: Plan,
    steps: readonly PlanStep[],
    { blockId, iterations }: BlockChoice,
    past: PastRun | undefined,
    { only }: PartialWish,
  ) {
    this.#plan = plan
    this.steps = steps
    this.#past = past
    this.#isAlone = only !== undefined
    this.#isNamed = iterations !== undefined
    const place = iterations ?? past?.firstPlaceOf(blockId) ?? []
    this.iterations = steps.slice(1).map((_, depth) => place[depth] ?? 0)
    this.#after = steps.map(slotsAfter)
  }

  reused(node: PlanNode, iterations: readonly number[], paths: ReadonlyMap<string, readonly PlanStep[]>) {
    const path = paths.get(node.id)
    if (!this.#past || !path || node.type === 'response' || this.#runs(path, iterations)) return undefined
    const container = path.at(-2)?.node
    return this.#past.kept(node, iterations, container !== undefined && this.#goesOn(container))
  }

  /** What the run itself remembers of blocks that ended before the chosen one, in the order in which they did. */
  before(paths: ReadonlyMap<string, readonly PlanStep[]>): { node: PlanNode; span: Span }[] {
    const spans = this.#past?.spans ?? []
    const own = this.#past?.span(this.#chosen.id, this.iterations)
    const end = own ? spans.findIndex(({ span }) => span === own) : spans.length
    return spans.slice(0, end).flatMap(({ span }) => {
      const node = paths.get(span.blockId as string)?.at(-1)?.node
      return node && span.status === 'success' && node.type === span.type ? [{ node, span }] : []
    })
  }

  /** Throws CONFLICT when what is taken over is not whole, and somebody needs it. */
  assertWhole(paths: ReadonlyMap<string, readonly PlanStep[]>): void {
    const past = this.#past as PastRun
    const needed = this.#needed(paths)
    const details: ErrorDetail[] = []
    for (const { span, iterations } of past.spans) {
      const blockId = span.blockId as string
      const node = paths.get(blockId)?.at(-1)?.node
      if (!node || !this.reused(node, iterations, paths)) continue
      const isInBody = this.steps.length > 1 && (paths.get(blockId)?.length ?? 0) > 1
      if (!needed.has(blockId) && span.type !== 'variables' && !isInBody) continue
      if (details.some(({ path }) => path === blockId)) continue
      const damage = past.damageOf(span)
      if (damage === undefined) continue
      const message = `What "${span.name}" gave in that run cannot be used: ${damage}.`
      details.push({ path: blockId, message })
    }
    if (details.length === 0) return
    const messages = details.map(({ message }) => message).join(' ')
    throw new AppError('CONFLICT', `${messages} Start at that block or before it, or run the workflow anew.`, {
      details,
    })
  }

  get #chosen(): PlanNode {
    return (this.steps.at(-1) as PlanStep).node
  }

  /** Ids of blocks that something which will run reads. */
  #needed(paths: ReadonlyMap<string, readonly PlanStep[]>): Set<string> {
    const running = this.#isAlone ? new Set(idsInside(this.#chosen)) : this.#running(paths)
    const needed = new Set<string>()
    for (const id of running)
      for (const read of this.#plan.reads.get(id) ?? []) if (!running.has(read)) needed.add(read)
    return needed
  }

  /** Ids of blocks that may run, and of the containers on the way. */
  #running(paths: ReadonlyMap<string, readonly PlanStep[]>): Set<string> {
    const running = new Set<string>()
    for (const [depth, { scope, node }] of this.steps.entries()) {
      for (const id of idsInside(node)) running.add(id)
      for (const slot of this.#after[depth] ?? []) {
        for (const id of idsInside(scope.nodes[slot] as PlanNode)) running.add(id)
      }
    }
    for (const [id, path] of paths) {
      const node = path.at(-1)?.node as PlanNode
      if (path.length === 1 && !this.reused(node, [], paths)) running.add(id)
    }
    return running
  }

  /** Whether a block at a place runs, because it is the chosen one, comes behind it, or holds it. */
  #runs(path: readonly PlanStep[], iterations: readonly number[]): boolean {
    for (const [depth, step] of this.steps.entries()) {
      const node = path[depth]?.node
      if (!node) return true
      if (node !== step.node) return !this.#isAlone && (this.#after[depth]?.has(node.slot) ?? false)
      const index = iterations[depth]
      if (index === undefined || depth === this.steps.length - 1) return true
      const chosen = this.iterations[depth] as number
      if (node.type === 'parallel') {
        if (this.#isNamed && index !== chosen) return false
      } else if (index !== chosen) return index > chosen && !this.#isAlone
    }
    return true
  }

  /** Whether a container goes on when one of its iterations fails. */
  #goesOn({ id, type }: PlanNode): boolean {
    return this.#plan.document[type === 'loop' ? 'loops' : 'parallels']?.[id]?.onError === 'continue'
  }
}

/** What a run needs on its way to a block: the ids of all before it, of the block, and of what is around it. */
function idsBefore(steps: readonly PlanStep[]): Set<string> {
  const ids = new Set<string>()
  for (const step of steps) {
    for (const slot of slotsBefore(step)) {
      for (const id of idsInside(step.scope.nodes[slot] as PlanNode)) ids.add(id)
    }
    ids.add(step.node.id)
  }
  for (const id of idsInside((steps.at(-1) as PlanStep).node)) ids.add(id)
  return ids
}
