import { jsonDepthMax } from '../limits.ts'
import { isDeeperThan } from '../text/json.ts'

/** The items of a loop or parallel: a list, the `[key, value]` pairs of an object, or JSON text of either. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value === 'object' && value !== null) return Object.entries(value)
  // Reject text that is nested too deep: serialising it later would block the service for seconds.
  if (typeof value !== 'string' || isDeeperThan(value, jsonDepthMax)) return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? itemsOf(parsed) : undefined
  } catch {
    return undefined
  }
}
