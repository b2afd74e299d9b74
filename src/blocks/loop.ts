import { Type as t } from '@sinclair/typebox'
import { limitSettings } from '../domain/limits.ts'
import { itemsOf } from '../domain/run/items.ts'
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
  description: 'Repeats its inner blocks, one iteration after the other.',
  kind: 'container',
  isRepeatable: true,
  parameters: t.Object({}),
  outputs: ['results'],
  mayFail: true,
  async run(_params, context) {
    const { body } = context
    if (!body) throw new Error('A loop was compiled without a body')
    const settings = body.settings()
    const repetition = repetitionOf(settings, context)
    const results: unknown[] = []
    for (let index = 0; !body.ended && (await continues(index, repetition, context, body)); index += 1) {
      const outcome = await body.iterate(iterationOf(index, repetition))
      const failed = addOutcome(results, index, outcome, settings['onError'] === 'continue')
      if (failed) return { outputs: { results }, error: failed }
    }
    return { outputs: { results } }
  },
})

/** Read once, before the first iteration. `count` is undefined for loops with a condition. */
type Repetition = { kind: unknown; count: number | undefined; items: readonly unknown[] | null }

function repetitionOf(settings: Settings, context: BlockContext): Repetition {
  const kind = settings['loopType']
  const items = kind === 'forEach' ? listOf(settings['forEachItems']) : null
  const count = kind === 'for' ? countOf(settings['iterations'], 'Times') : items?.length
  if (count !== undefined && count > context.limits.loopIterationsMax) throw tooMany(count, context)
  return { kind, count, items }
}

async function continues(
  index: number,
  { kind, count }: Repetition,
  context: BlockContext,
  body: Body,
): Promise<boolean> {
  if (count !== undefined) return index < count
  if (!(kind === 'doWhile' && index === 0) && !(await body.condition(index))) return false
  if (index >= context.limits.loopIterationsMax) throw tooMany(`more than ${context.limits.loopIterationsMax}`, context)
  return true
}

function tooMany(count: number | string, { limits }: BlockContext): BlockError {
  const max = limits.loopIterationsMax
  return new BlockError(
    'EXECUTION_FAILED',
    `The loop needs ${count} iterations; at most ${max} are allowed (${limitSettings.loopIterationsMax}).`,
  )
}

type Settings = Readonly<Record<string, unknown>>

function iterationOf(index: number, { items }: Repetition): Iteration {
  return { index, currentItem: items ? items[index] : index, items }
}

/** Reads a whole number from a setting that may be text. */
export function countOf(value: unknown, label: string, min = 0): number {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= min) return count
  throw new BlockError(
    'INVALID_PARAMETER',
    `${label} must be a whole number of at least ${min}, not ${JSON.stringify(value) ?? 'nothing'}.`,
  )
}

export function listOf(value: unknown): readonly unknown[] {
  const items = itemsOf(value)
  if (items) return items
  const text = JSON.stringify(value) ?? 'nothing'
  throw new BlockError(
    'INVALID_PARAMETER',
    `Items must be a list or an object, not ${text.length > 100 ? `${text.slice(0, 97)}...` : text}.`,
  )
}

/** Adds an iteration's outcome to the results. Returns the error if it fails the container. */
export function addOutcome(results: unknown[], index: number, outcome: IterationOutcome, continuesOnError: boolean) {
  if (outcome.ok) {
    results[index] = outcome.output
    return undefined
  }
  results[index] = { error: outcome.error }
  return continuesOnError ? undefined : outcome.error
}
