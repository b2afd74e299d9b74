/** The names in a list of objects, as written in a document. */
export function namesIn(list: unknown): string[] {
  return Array.isArray(list) ? list.map((entry: { name?: unknown } | null) => String(entry?.name)) : []
}
