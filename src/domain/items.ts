/** What a loop or parallel goes through: a list, the `[key, value]` pairs of an object, or JSON text of either. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (typeof value === 'object' && value !== null) return Object.entries(value)
  if (typeof value !== 'string') return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null ? itemsOf(parsed) : undefined
  } catch {
    return undefined
  }
}
