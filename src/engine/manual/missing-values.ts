import { noEnvironment } from '../../domain/account/environment.ts'
import { AppError, type ErrorDetail, problemsError } from '../../domain/errors.ts'
import { defaultLimits } from '../../domain/limits.ts'
import { readPath } from '../../domain/workflow/reference.ts'
import { BlockError, type Outputs } from '../block.ts'
import type { Plan, PlanNode } from '../compile/plan.ts'
import type { PlanReference } from '../compile/reference-resolver.ts'
import { aloneFrames, withValueAt } from '../run/alone-frames.ts'
import type { GivenValue, PartialRun, RunOnly } from '../run/contracts.ts'
import type { Frame, RunValues } from '../run/frame.ts'
import { idsInside } from './plan-path.ts'
import type { PreviousRun } from './previous-run.ts'

/** The values that the author gave for the references of a block that runs alone, by reference as written. */
export type ValuesByReference = Readonly<Record<string, unknown>>

/** The given values with their references. Throws INVALID_INPUT for a reference that the block does not have. */
export function givenValues(plan: Plan, node: PlanNode, values: ValuesByReference): GivenValue[] {
  const references = referencesOf(plan, node)
  const unknown: ErrorDetail[] = []
  const given = Object.entries(values).flatMap(([source, value]) => {
    const reference = references.get(source)
    if (reference) return [{ reference, value }]
    unknown.push({ path: memberOf(source), message: `The block "${node.name}" does not read ${source}.` })
    return []
  })
  if (unknown.length > 0) throw problemsError('INVALID_INPUT', unknown)
  // A reference to a whole output must not replace a member that was given, too.
  return given.toSorted((a, b) => a.reference.path.length - b.reference.path.length)
}

/**
 * Throws INVALID_INPUT when a block that runs alone reads a value that neither the previous run, nor a sample, nor the
 * author provides: it would become null, or nothing in a text, and the block might send that. A value that is null is
 * a value.
 */
export function assertValues(
  plan: Plan,
  only: RunOnly,
  cached: PartialRun['cached'],
  previous: PreviousRun | undefined,
): void {
  const node = only.steps.at(-1)?.node as PlanNode
  const given = new Set(only.given.map(({ reference }) => reference.source))
  const wanted = [...referencesOf(plan, node).values()].filter(({ source }) => !given.has(source))
  if (wanted.length === 0) return
  const values = valuesBefore(plan, only)
  const frames = framesOf(values, only, cached)
  const details = wanted.flatMap((reference): ErrorDetail[] => {
    const value = valueIn(reference, values, only, frames)
    const damage = value === undefined ? undefined : previous?.damageIn(value)
    if (value !== undefined && damage === undefined) return []
    const { source } = reference
    const message =
      damage === undefined ? `${source} has no value.` : `The value of ${source} cannot be used: ${damage}.`
    return [{ path: memberOf(source), message }]
  })
  if (details.length === 0) return
  const { message } = problemsError('INVALID_INPUT', details)
  const advice = 'Provide values, or run the workflow up to this block first.'
  throw new AppError('INVALID_INPUT', `${message} ${advice}`, { details })
}

/** The member of the request in which a value is given. */
function memberOf(source: string): string {
  return `only.values.${source}`
}

/** The references of a block and of the blocks inside it to values from outside. */
function referencesOf(plan: Plan, node: PlanNode): Map<string, PlanReference> {
  const inside = new Set(idsInside(node))
  const found = new Map<string, PlanReference>()
  for (const id of inside) {
    for (const reference of plan.references.get(id)?.values() ?? []) {
      const { of } = reference
      if (of.kind === 'variable' || !inside.has(of.id)) found.set(reference.source, reference)
    }
  }
  return found
}

/** The values that exist before the block runs. The environment is unknown here, and no program runs. */
function valuesBefore(plan: Plan, { before, given }: RunOnly): RunValues {
  const variables = new Map([...plan.variables].filter(([, value]) => value !== null))
  for (const { node, span } of before) {
    if (node.type !== 'variables') continue
    for (const [name, value] of Object.entries((span.output ?? {}) as Outputs)) variables.set(name, value)
  }
  for (const { reference, value } of given) {
    const { of, path } = reference
    if (of.kind === 'variable') variables.set(of.name, withValueAt(variables.get(of.name), path, value))
  }
  const runProgram = () => Promise.reject(new Error('No program runs before the run has started'))
  const sizes = { blockBytesMax: defaultLimits.blockBytesMax, filledChars: 0 }
  return { environment: noEnvironment, variables, runProgram, expressionWorkMax: 0, ...sizes }
}

/** Undefined when the settings of a container cannot be read now; the run reports why. */
function framesOf(values: RunValues, only: RunOnly, cached: PartialRun['cached']): readonly Frame[] | undefined {
  try {
    return aloneFrames(values, only, cached)
  } catch (error) {
    if (error instanceof BlockError) return undefined
    throw error
  }
}

/** The value that a reference will have; undefined for none. Null when it is unknown until the run starts. */
function valueIn(
  { of, path }: PlanReference,
  values: RunValues,
  { steps }: RunOnly,
  frames: readonly Frame[] | undefined,
): unknown {
  if (of.kind === 'variable') return readPath(values.variables.get(of.name), path)
  if (!frames) return null
  if (of.kind === 'iteration') {
    const depth = steps.findIndex(({ node }) => node.id === of.id)
    return readPath(frames[depth + 1]?.iteration, path)
  }
  for (const [depth, { scope }] of steps.entries()) {
    const node = scope.nodes.find(({ id }) => id === of.id)
    if (node) return outputAt(frames[depth]?.outputs[node.slot], node, path)
  }
  return null
}

/** A declared output is null when a step did not set it, for example `error` after a success. */
function outputAt(outputs: Outputs | undefined, { noOutputs, definition }: PlanNode, path: PlanReference['path']) {
  const value = readPath(outputs, path)
  if (value !== undefined || !outputs || definition.kind === 'trigger' || path.length !== 1) return value
  return Object.hasOwn(noOutputs, path[0] as PropertyKey) ? null : undefined
}
