import { isObject } from '../../domain/run/input.ts'
import type { BlockOrigin } from '../../domain/workflow/workflow.ts'
import type { SimBlock } from '../sim-document.ts'
import { parseJson } from './sim-values.ts'

/** The members of a block that our document has in another form, and those that only Sim's canvas needs. */
const elsewhere = new Set(['id', 'name', 'position', 'enabled', 'outputs', 'height', 'layout', 'isWide'])

/** The content of a block that a placeholder keeps. */
export function originalOf({ original }: SimBlock): Record<string, unknown> {
  return Object.fromEntries(Object.entries(original).filter(([name]) => !elsewhere.has(name)))
}

/**
 * The sub-block `millrace`, with which our exports complete a block: parameters that Sim's format does not have, and
 * the type of a block that Sim does not know.
 */
export type Native = {
  type: string | undefined
  params: Readonly<Record<string, unknown>>
  /** Parameters that the import adds, but the block does not have. */
  without: readonly string[]
  /** `null`: the block has none, because it did not come from Sim. Undefined: the one that the import finds. */
  origin: BlockOrigin | null | undefined
}

export function nativeOf({ values }: SimBlock): Native | undefined {
  const written = values.get('millrace')
  const native = typeof written === 'string' ? parseJson(written) : written
  if (!isObject(native)) return undefined
  const { type, params, without, origin } = native
  return {
    type: typeof type === 'string' && type !== '' ? type : undefined,
    params: isObject(params) ? params : {},
    without: Array.isArray(without) ? without.filter((name) => typeof name === 'string') : [],
    origin: origin === null ? null : isObject(origin) ? (origin as BlockOrigin) : undefined,
  }
}
