import { type RunEntry, spanNumber } from './run-state.ts'

/** A line of the console. Entries inside a block are listed below it, one level deeper. */
export type EntryLine = { entry: RunEntry; level: number }

/** The latest `max` entries and their containers, as a tree: sorted by iteration, then by start. */
export function entryLines(entries: readonly RunEntry[], max: number): EntryLine[] {
  const known = new Map(entries.map((entry) => [entry.spanId, entry]))
  const shown = new Set<RunEntry>()
  for (const entry of entries.slice(-max)) {
    for (let one: RunEntry | undefined = entry; one && !shown.has(one); one = known.get(one.parentId ?? ''))
      shown.add(one)
  }
  const below = Map.groupBy(shown, ({ parentId }) => (parentId !== null && known.has(parentId) ? parentId : null))
  const lines: EntryLine[] = []
  const add = (parentId: string | null, level: number) => {
    for (const entry of (below.get(parentId) ?? []).toSorted(inOrder)) {
      lines.push({ entry, level })
      add(entry.spanId, level + 1)
    }
  }
  add(null, 0)
  return lines
}

function inOrder(a: RunEntry, b: RunEntry): number {
  for (const [depth, index] of a.iterations.entries()) {
    const difference = index - (b.iterations[depth] ?? 0)
    if (difference !== 0) return difference
  }
  return spanNumber(a) - spanNumber(b)
}
