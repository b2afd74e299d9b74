import { matchScore } from '../../parts/find.ts'

export type Ranked = { label: string; group: string; words?: string | undefined }

/** Groups in the order of their best item, and the items of each group, best first. */
export function rankItems<Item extends Ranked>(items: readonly Item[], typed: string, perGroup = 8): Item[] {
  const scored = items.flatMap((item) => {
    const score = scoreOf(item, typed)
    return score === undefined ? [] : [{ item, score }]
  })
  // Letters in order are a guess. They count when nothing has the words.
  const hasWords = scored.some(({ score }) => score >= wordScore)
  const counted = hasWords ? scored.filter(({ score }) => score >= wordScore) : scored
  const sorted = counted.toSorted((a, b) => b.score - a.score).map(({ item }) => item)
  return [...Map.groupBy(sorted, ({ group }) => group).values()].flatMap((group) => group.slice(0, perGroup))
}

/** An equal label comes first, then one that begins with the text, then one that has it, then other words. */
function scoreOf({ label, words = '' }: Ranked, typed: string): number | undefined {
  const [low, wanted] = [label.toLowerCase(), typed.trim().toLowerCase()]
  if (low === wanted) return 1_000
  const inLabel = matchScore(label, typed)
  if (low.startsWith(wanted)) return 500 + (inLabel ?? 0)
  if (inLabel !== undefined && inLabel > 20) return 200 + inLabel
  const all = `${label} ${words}`.toLowerCase()
  if (wanted.split(/\s+/).every((word) => all.includes(word))) return wordScore
  return inLabel
}

/** The score of an item that has all words, but not in its label. */
const wordScore = 50
