/**
 * Estimates the memory of JSON data in bytes. Counts one byte per character of strings; cheap for small data. Stops
 * counting beyond `max`.
 */
export function estimateSize(value: unknown, max = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 16
  const open: object[] = [value]
  const add = (member: unknown) => {
    if (typeof member === 'string') bytes += member.length
    else if (typeof member === 'object' && member !== null) {
      bytes += 16
      open.push(member)
    } else bytes += 8
  }
  for (let current = open.pop(); current && bytes <= max; current = open.pop()) {
    // `for in` makes a text of every index of an array, which takes 0.4 µs.
    if (Array.isArray(current)) for (const item of current) add(item)
    else {
      for (const key in current) {
        bytes += key.length
        add((current as Record<string, unknown>)[key])
      }
    }
  }
  return bytes
}
