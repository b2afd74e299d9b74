import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import type { Span } from '../../domain/run/log.ts'
import type { Plan, PlanNode } from '../compile/plan.ts'
import type { PartialRun, PlanStep, RunOnly } from '../run/contracts.ts'
import { assertValues, givenValues, type ValuesByReference } from './missing-values.ts'
import type { PinnedOutputs } from './pinned-outputs.ts'
import { idsInside, pathsOf, slotsAfter, slotsBefore } from './plan-path.ts'
import type { PreviousRun } from './previous-run.ts'

/** A block, and the index of the iteration of each loop and parallel around it, outermost first. */
export type BlockChoice = { blockId: string; iterations?: readonly number[] | undefined }

/** Which part of a workflow is to run. */
export type PartialRequest = {
  /** This block and those after it run. The blocks before it use their outputs of the previous run. */
  from?: BlockChoice | undefined
  /** The run ends with this block, and skips the blocks that it does not need. */
  until?: string | undefined
  /** Only this block runs. `values`: for its references, in place of all others. */
  only?: (BlockChoice & { values?: ValuesByReference | undefined }) | undefined
}

/**
 * Decides which blocks of a plan run, and which use their outputs of the previous run (cached outputs). Throws
 * `INVALID_INPUT` for an unknown block, or when a block that runs alone would read a value that does not exist, and
 * `CONFLICT` when a block that runs with others would read outputs that the previous run's log entry does not have.
 * `samples`: outputs of triggers, by block id, for a block that runs alone. `pins`: pinned blocks never run.
 *
 * All blocks that a run can reach from the block in `from` run again. All others, before it or in parallel, use their
 * cached outputs, if they ended in a way that lets the run continue. In a loop, the iterations before the chosen one
 * are cached and those after it run again. In a parallel, only the chosen iteration runs again, or all of them if none
 * is chosen. A response block is never cached: it only passes on the outputs of others, and it ends the run.
 */
export function planPartial(
  plan: Plan,
  request: PartialRequest,
  previous: PreviousRun | undefined,
  { samples = new Map(), pins }: { samples?: RunOnly['samples'] | undefined; pins?: PinnedOutputs | undefined } = {},
): PartialRun {
  const paths = pathsOf(plan)
  const pathTo = (blockId: string, member: string): readonly PlanStep[] => {
    const path = paths.get(blockId)
    if (path) return path
    const message = `There is no block "${blockId}" in this workflow.`
    throw new AppError('INVALID_INPUT', message, { details: [{ path: member, message }] })
  }
  const chosen = request.only ?? request.from
  const part =
    chosen &&
    new ChosenPart(plan, pathTo(chosen.blockId, request.only ? 'only' : 'from'), chosen, { previous, pins, request })
  const cached = (node: PlanNode, iterations: readonly number[]) =>
    part ? part.cached(node, iterations, paths) : pins?.recorded(node)
  let only: RunOnly | undefined
  if (part && request.only) {
    const { steps, iterations } = part
    const given = givenValues(plan, part.chosen, request.only.values ?? {})
    only = { steps, iterations, before: [...part.pinnedBefore(), ...part.before(paths)], samples, given }
    if (!pins?.recorded(part.chosen)) assertValues(plan, only, cached, previous)
  } else if (part && previous) part.assertComplete(paths)
  const within = request.until === undefined ? undefined : idsBefore(pathTo(request.until, 'until'))
  const isPart = chosen !== undefined || request.until !== undefined
  return { isPart, cached, within, until: request.until, only }
}

type Sources = { previous: PreviousRun | undefined; pins: PinnedOutputs | undefined; request: PartialRequest }

/** Divides the blocks of a plan: those that run with the chosen block, and those with cached outputs. */
class ChosenPart {
  readonly steps: readonly PlanStep[]
  readonly iterations: readonly number[]
  readonly #plan: Plan
  readonly #previous: PreviousRun | undefined
  readonly #pins: PinnedOutputs | undefined
  readonly #isAlone: boolean
  /** Whether iterations were chosen: then the other iterations of a parallel are cached. */
  readonly #hasIterations: boolean
  readonly #after: readonly ReadonlySet<number>[]

  constructor(
    plan: Plan,
    steps: readonly PlanStep[],
    { blockId, iterations }: BlockChoice,
    { previous, pins, request }: Sources,
  ) {
    this.#plan = plan
    this.steps = steps
    this.#previous = previous
    this.#pins = pins
    this.#isAlone = request.only !== undefined
    this.#hasIterations = iterations !== undefined
    const place = iterations ?? previous?.firstPlaceOf(blockId) ?? []
    this.iterations = steps.slice(1).map((_, depth) => place[depth] ?? 0)
    this.#after = steps.map(slotsAfter)
  }

  cached(node: PlanNode, iterations: readonly number[], paths: ReadonlyMap<string, readonly PlanStep[]>) {
    const pinned = this.#pins?.recorded(node)
    if (pinned) return pinned
    const path = paths.get(node.id)
    if (!this.#previous || !path || node.type === 'response' || this.#runs(path, iterations)) return undefined
    const container = path.at(-2)?.node
    return this.#previous.recorded(node, iterations, container !== undefined && this.#continuesOnError(container))
  }

  /** The blocks that ended before the chosen one and may have changed variables of the run, in that order. */
  before(paths: ReadonlyMap<string, readonly PlanStep[]>): { node: PlanNode; span: Span }[] {
    const spans = this.#previous?.spans ?? []
    const own = this.#previous?.span(this.chosen.id, this.iterations)
    const end = own ? spans.findIndex(({ span }) => span === own) : spans.length
    return spans.slice(0, end).flatMap(({ span }) => {
      const node = paths.get(span.blockId as string)?.at(-1)?.node
      if (node && this.#pins?.recorded(node)) return []
      return node && span.status === 'success' && node.type === span.type ? [{ node, span }] : []
    })
  }

  /** The pinned blocks of the outermost scope from which a run can reach the chosen one. */
  pinnedBefore(): { node: PlanNode; span: Span }[] {
    const [outermost] = this.steps
    if (!outermost || !this.#pins) return []
    const before = slotsBefore(outermost)
    return outermost.scope.nodes.flatMap((node) => {
      const pinned = before.has(node.slot) ? this.#pins?.recorded(node) : undefined
      return pinned ? [{ node, span: pinned.span }] : []
    })
  }

  /** Throws CONFLICT when cached outputs that a block needs are incomplete. */
  assertComplete(paths: ReadonlyMap<string, readonly PlanStep[]>): void {
    const previous = this.#previous as PreviousRun
    const needed = this.#needed(paths)
    const details: ErrorDetail[] = []
    const listed = new Set<string>()
    for (const { span, iterations } of previous.spans) {
      const blockId = span.blockId as string
      const node = paths.get(blockId)?.at(-1)?.node
      if (!node || this.#pins?.recorded(node) || !this.cached(node, iterations, paths)) continue
      const isInBody = this.steps.length > 1 && (paths.get(blockId)?.length ?? 0) > 1
      if (!needed.has(blockId) && span.type !== 'variables' && !isInBody) continue
      if (listed.has(blockId)) continue
      const damage = previous.damageOf(span)
      if (damage === undefined) continue
      const message = `The outputs of "${span.name}" in that run cannot be used: ${damage}.`
      details.push({ path: blockId, message })
      listed.add(blockId)
    }
    if (details.length === 0) return
    const messages = details.map(({ message }) => message).join(' ')
    throw new AppError('CONFLICT', `${messages} Start at that block or before it, or run the whole workflow again.`, {
      details,
    })
  }

  get chosen(): PlanNode {
    return (this.steps.at(-1) as PlanStep).node
  }

  /** Ids of the cached blocks whose outputs a running block reads. */
  #needed(paths: ReadonlyMap<string, readonly PlanStep[]>): Set<string> {
    const running = this.#running(paths)
    const needed = new Set<string>()
    for (const id of running)
      for (const read of this.#plan.reads.get(id) ?? []) if (!running.has(read)) needed.add(read)
    return needed
  }

  /** Ids of the blocks that may run, and of the containers around the chosen block. */
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
      if (path.length === 1 && !this.cached(node, [], paths)) running.add(id)
    }
    return running
  }

  /** Whether a block runs in the given iterations: it is the chosen one, comes after it, or contains it. */
  #runs(path: readonly PlanStep[], iterations: readonly number[]): boolean {
    for (const [depth, step] of this.steps.entries()) {
      const node = path[depth]?.node
      if (!node) return true
      if (node !== step.node) return !this.#isAlone && (this.#after[depth]?.has(node.slot) ?? false)
      const index = iterations[depth]
      if (index === undefined || depth === this.steps.length - 1) return true
      const chosen = this.iterations[depth] as number
      if (node.type === 'parallel') {
        if (this.#hasIterations && index !== chosen) return false
      } else if (index !== chosen) return index > chosen && !this.#isAlone
    }
    return true
  }

  /** Whether a container continues when one of its iterations fails. */
  #continuesOnError({ id, type }: PlanNode): boolean {
    return this.#plan.document[type === 'loop' ? 'loops' : 'parallels']?.[id]?.onError === 'continue'
  }
}

/** The ids of the blocks that a run needs to reach a block: all before it, the block itself, and its containers. */
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
