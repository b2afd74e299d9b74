import { isObject, setMember } from '../../domain/run/input.ts'
import { itemsOf } from '../../domain/run/items.ts'
import type { PathStep } from '../../domain/workflow/reference.ts'
import { BlockError, type Iteration, type Outputs } from '../block.ts'
import type { PlanNode } from '../compile/plan.ts'
import type { GivenValue, PartialRun, RunOnly } from './contracts.ts'
import { Frame, type RunValues } from './frame.ts'
import { outputsOf } from './step-history.ts'

/**
 * The frames around a block that runs alone, outermost first: with the cached outputs of other blocks, the samples of
 * triggers, and the given values. Throws `BlockError` when the settings of a container cannot be read.
 */
export function aloneFrames(
  run: RunValues,
  { steps, iterations, samples, given }: RunOnly,
  cached: PartialRun['cached'] | undefined,
): Frame[] {
  const frames: Frame[] = []
  let inner: Iteration | undefined
  for (const [depth, { scope, node }] of steps.entries()) {
    const place = iterations.slice(0, depth)
    const frame = new Frame(run, frames.at(-1), inner, scope.nodes.length)
    frames.push(frame)
    for (const other of scope.nodes) {
      const past = other === node ? undefined : cached?.(other, place)
      const sample = samples.get(other.id)
      const outputs = past ? { ...sample, ...outputsOf(past) } : sample
      frame.outputs[other.slot] = withGiven(outputs, given, 'block', other.id) as Outputs | undefined
    }
    if (depth < steps.length - 1) inner = givenIteration(node, frame, iterations[depth] ?? 0, given)
  }
  return frames
}

function givenIteration(node: PlanNode, frame: Frame, index: number, given: readonly GivenValue[]): Iteration {
  return withGiven(iterationOf(node, frame, index, given), given, 'iteration', node.id) as Iteration
}

/** One iteration of a container, without those before it. */
function iterationOf({ id, body }: PlanNode, frame: Frame, index: number, given: readonly GivenValue[]): Iteration {
  const isGiven = given.some(({ reference: { of } }) => of.kind === 'iteration' && of.id === id)
  try {
    const { loopType, forEachItems, parallelType, distribution } = body?.settings(frame) ?? {}
    const isList = loopType === 'forEach' || parallelType === 'collection'
    const items = isList ? (itemsOf(loopType === 'forEach' ? forEachItems : distribution) ?? null) : null
    return { index, currentItem: isList ? items?.[index] : index, items }
  } catch (error) {
    if (!isGiven || !(error instanceof BlockError)) throw error
    return { index, currentItem: undefined, items: null }
  }
}

function withGiven(value: unknown, given: readonly GivenValue[], kind: 'block' | 'iteration', id: string): unknown {
  let result = value
  for (const { reference, value: own } of given) {
    const { of, path } = reference
    if (of.kind === kind && of.id === id) result = withValueAt(result ?? {}, path, own)
  }
  return result
}

/** A copy of a value with another value at a path. Members that are in the way are replaced. */
export function withValueAt(value: unknown, path: readonly PathStep[], own: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return own
  if (typeof step === 'number' && (Array.isArray(value) || !isObject(value))) {
    const list: unknown[] = Array.isArray(value) ? [...value] : []
    // A list is never made longer than a reference could read from it sensibly.
    if (step > listGapMax + list.length) return list
    while (list.length < step) list.push(null)
    list[step] = withValueAt(list[step], rest, own)
    return list
  }
  const copy: Record<string, unknown> = isObject(value) ? { ...value } : {}
  const name = String(step)
  setMember(copy, name, withValueAt(Object.hasOwn(copy, name) ? copy[name] : undefined, rest, own))
  return copy
}

const listGapMax = 1_000
