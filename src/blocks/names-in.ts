/** The names in a list of objects, as written in a document; empty where an entry has none. */
export function namesIn(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((entry: { name?: unknown } | null) => (typeof entry?.name === 'string' ? entry.name : ''))
}
