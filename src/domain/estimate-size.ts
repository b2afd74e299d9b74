/**
 * Estimates the memory of JSON data in bytes. Counts one byte per character of strings; cheap for small data. Stops
 * counting beyond `max`.
 */
export function estimateSize(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 16
  const open: object[] = []
  for (let current: object | undefined = value; current && bytes <= max; current = open.pop()) {
    // `for in` converts every index of an array to a text, which takes 0.4 µs.
    if (Array.isArray(current)) for (const item of current) bytes += shallowSize(item, open)
    else {
      for (const key in current) bytes += key.length + shallowSize((current as Record<string, unknown>)[key], open)
    }
  }
  return bytes
}

/** Adds an object to `open`, so that its members are counted later. */
function shallowSize(value: unknown, open: object[]): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  open.push(value)
  return 16
}
