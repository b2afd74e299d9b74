/**
 * How well a text matches what was typed. Higher is better; undefined means no match. Every typed word must occur. The
 * best position is the start of the text, then the start of a word, then anywhere, then as letters in order.
 */
export function matchScore(text: string, typed: string): number | undefined {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const low = text.toLowerCase()
  let score = 0
  for (const word of words) {
    const at = low.indexOf(word)
    if (at === 0) score += 100
    else if (at > 0) score += /[\s/._-]/.test(low[at - 1]!) ? 60 : 30
    else if (word.length > 1 && lettersInOrder(low, word)) score += 5
    else return undefined
  }
  return score - text.length / 100
}

function lettersInOrder(text: string, letters: string): boolean {
  let at = -1
  for (const letter of letters) {
    at = text.indexOf(letter, at + 1)
    if (at === -1) return false
  }
  return true
}

/** The matching items, best first. Without input, all items in their order. */
export function findItems<Item>(items: readonly Item[], typed: string, textOf: (item: Item) => string): Item[] {
  if (typed.trim() === '') return [...items]
  return items
    .flatMap((item) => {
      const score = matchScore(textOf(item), typed)
      return score === undefined ? [] : [{ item, score }]
    })
    .toSorted((a, b) => b.score - a.score)
    .map(({ item }) => item)
}
