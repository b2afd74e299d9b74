import { isObject } from '../../domain/run/input.ts'
import type { BlockOrigin } from '../../domain/workflow/workflow.ts'
import type { SimBlock } from '../sim-document.ts'
import { parseJson } from './sim-values.ts'

/** The members of a block that our document stores elsewhere, and members that only Sim's canvas uses. */
const elsewhere = new Set(['id', 'name', 'position', 'enabled', 'outputs', 'height', 'layout', 'isWide'])

/** The content of the original block, for a placeholder. */
export function originalOf({ original }: SimBlock): Record<string, unknown> {
  return Object.fromEntries(Object.entries(original).filter(([name]) => !elsewhere.has(name)))
}

/** The sub-block `millrace`, which our exports add to a block. It holds values that Sim's format cannot express. */
export type Native = {
  /** Our block type, if Sim has no counterpart. */
  type: string | undefined
  params: Readonly<Record<string, unknown>>
  /** Parameters that the import would add although the block does not have them. */
  without: readonly string[]
  /** `null`: the block has no origin, because it did not come from Sim. Undefined: the origin that the import finds. */
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
