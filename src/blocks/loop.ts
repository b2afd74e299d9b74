import { Type as t } from '@sinclair/typebox'
import { itemsOf } from '../domain/items.ts'
import { limitSettings } from '../domain/limits.ts'
import {
  type BlockContext,
  BlockError,
  type Body,
  defineBlock,
  type Iteration,
  type IterationOutcome,
} from '../engine/block.ts'

export const loop = defineBlock({
  type: 'loop',
  label: 'Loop',
  description: 'Repeats its inner blocks, one pass after the other.',
  kind: 'container',
  isRepeatable: true,
  parameters: t.Object({}),
  outputs: ['results'],
  mayFail: true,
  async run(_params, context) {
    const { body } = context
    if (!body) throw new Error('A loop was compiled without a body')
    const settings = body.settings()
    const passes = passesOf(settings, context)
    const results: unknown[] = []
    for (let index = 0; !body.ended && (await goesOn(index, passes, context, body)); index += 1) {
      const outcome = await body.iterate(iterationOf(index, passes))
      const failed = keep(results, index, outcome, settings['onError'] === 'continue')
      if (failed) return { outputs: { results }, error: failed }
    }
    return { outputs: { results } }
  },
})

/** Read once, before the first pass. `count` is undefined where a condition decides. */
type Passes = { kind: unknown; count: number | undefined; items: readonly unknown[] | null }

function passesOf(settings: Settings, context: BlockContext): Passes {
  const kind = settings['loopType']
  const items = kind === 'forEach' ? listOf(settings['forEachItems']) : null
  const count = kind === 'for' ? countOf(settings['iterations'], 'iterations') : items?.length
  if (count !== undefined && count > context.limits.loopIterationsMax) throw tooMany(count, context)
  return { kind, count, items }
}

async function goesOn(index: number, { kind, count }: Passes, context: BlockContext, body: Body): Promise<boolean> {
  if (count !== undefined) return index < count
  if (!(kind === 'doWhile' && index === 0) && !(await body.condition(index))) return false
  if (index >= context.limits.loopIterationsMax) throw tooMany('more', context)
  return true
}

function tooMany(count: number | string, { limits }: BlockContext): BlockError {
  const max = limits.loopIterationsMax
  return new BlockError(
    'EXECUTION_FAILED',
    `The loop wants ${count} iterations; at most ${max} are allowed (${limitSettings.loopIterationsMax}).`,
  )
}

type Settings = Readonly<Record<string, unknown>>

function iterationOf(index: number, { items }: Passes): Iteration {
  return { index, currentItem: items ? items[index] : index, items }
}

/** A whole number from a setting that may be text. */
export function countOf(value: unknown, name: string, min = 0): number {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= min) return count
  throw new BlockError(
    'INVALID_PARAMETER',
    `"${name}" must be a whole number of at least ${min}, not ${JSON.stringify(value) ?? 'nothing'}.`,
  )
}

export function listOf(value: unknown): readonly unknown[] {
  const items = itemsOf(value)
  if (items) return items
  const text = JSON.stringify(value) ?? 'nothing'
  throw new BlockError(
    'INVALID_PARAMETER',
    `There is no list to go through: ${text.length > 100 ? `${text.slice(0, 97)}...` : text}.`,
  )
}

/** Puts an iteration's outcome in its place; the error when it fails the container. */
export function keep(results: unknown[], index: number, outcome: IterationOutcome, goesOnAfterFailure: boolean) {
  if (outcome.ok) {
    results[index] = outcome.output
    return undefined
  }
  results[index] = { error: outcome.error }
  return goesOnAfterFailure ? undefined : outcome.error
}
