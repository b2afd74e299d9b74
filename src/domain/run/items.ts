import { jsonRefusal } from '../text/json.ts'

/** The items of a loop or parallel: a list, the `[key, value]` pairs of an object, or JSON text of either. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value === 'object' && value !== null) return Object.entries(value)
  // Processing text that is too deep or has too many values would block the service for seconds.
  if (typeof value !== 'string' || jsonRefusal(value) !== undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? itemsOf(parsed) : undefined
  } catch {
    return undefined
  }
}
