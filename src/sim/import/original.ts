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
  origin: BlockOrigin | undefined
}

export function nativeOf({ values }: SimBlock): Native | undefined {
  const written = values.get('millrace')
  const native = typeof written === 'string' ? parseJson(written) : written
  if (!isObject(native)) return undefined
  const { type, params, origin } = native
  return {
    type: typeof type === 'string' && type !== '' ? type : undefined,
    params: isObject(params) ? params : {},
    origin: isObject(origin) && typeof origin['type'] === 'string' ? (origin as BlockOrigin) : undefined,
  }
}
