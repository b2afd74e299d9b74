import { isDeeperThan } from './json.ts'
import { jsonDepthMax } from './limits.ts'

/** What a loop or parallel goes through: a list, the `[key, value]` pairs of an object, or JSON text of either. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value === 'object' && value !== null) return Object.entries(value)
  // Text too deep for everything that walks it later is no list: writing it down would hold up everybody for seconds.
  if (typeof value !== 'string' || isDeeperThan(value, jsonDepthMax)) return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? itemsOf(parsed) : undefined
  } catch {
    return undefined
  }
}
