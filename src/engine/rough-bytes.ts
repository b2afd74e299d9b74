/** About how much memory a piece of JSON data holds. Exact for strings up to their encoding, cheap for small data. */
export function roughBytes(value: unknown): number {
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
