/** Estimates the memory of JSON data in bytes. Counts one byte per character of strings; cheap for small data. */
export function estimateSize(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 16
  const open: object[] = [value]
  for (let current = open.pop(); current; current = open.pop()) {
    for (const key in current) {
      const member = (current as Record<string, unknown>)[key]
      if (typeof member === 'string') bytes += key.length + member.length
      else if (typeof member === 'object' && member !== null) {
        bytes += key.length + 16
        open.push(member)
      } else bytes += key.length + 8
    }
  }
  return bytes
}
