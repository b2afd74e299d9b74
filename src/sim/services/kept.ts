import { isObject } from '../../domain/run/input.ts'
import { parseJson, type SimValues } from '../import/sim-values.ts'

/**
 * The values that a mapper took and that our parameters do not contain unchanged: converted values, choices of Sim's
 * editor, and accounts of Sim. The document keeps them for people and for an export, but never secrets.
 */
export function keptOf(
  all: ReadonlyMap<string, unknown>,
  values: SimValues,
  params: unknown,
  secrets: readonly string[],
): Record<string, unknown> {
  const contained = new Set(leavesOf(params))
  const left = new Set(values.rest().map(([id]) => id))
  return Object.fromEntries(
    [...all].filter(([id, value]) => {
      if (left.has(id) || secrets.includes(id) || contained.has(value)) return false
      const json = jsonIn(value)
      return json === undefined || [...leavesOf(json)].some((leaf) => !contained.has(leaf))
    }),
  )
}

/** A list or an object, or the JSON text of one. */
function jsonIn(value: unknown): unknown {
  const parsed = typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : value
  return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined
}

function* leavesOf(value: unknown): Generator<unknown, void> {
  if (Array.isArray(value)) for (const item of value) yield* leavesOf(item)
  else if (isObject(value)) for (const member of Object.values(value)) yield* leavesOf(member)
  else yield value
}
