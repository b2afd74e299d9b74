/**
 * How well a text answers to what was typed, higher is better, undefined when it does not: all words typed occur, best at
 * the start of the text, then at the start of a word, then anywhere, then as letters in their order.
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

/** The items that answer to what was typed, best first; all of them, in their order, when nothing was. */
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
