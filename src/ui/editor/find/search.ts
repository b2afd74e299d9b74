import { compilePattern, type Program } from './pattern.ts'
import { type Budget, type Found, findInText } from './pattern-search.ts'

export type Query = { text: string; isWord: boolean; isPattern: boolean; replacement: string }

/** A match in one of the searched texts. `insert` is the text that replaces it. */
export type Match = { place: number; from: number; to: number; insert: string }

/** `hasMore`: there are more matches than `matches` lists. */
export type Matches = { matches: readonly Match[]; hasMore: boolean }

export const matchesMax = 5_000
/** A few seconds of work on a slow machine. */
const stepsMax = 5_000_000

/**
 * Finds a query in texts. Yields often, so that the caller can pause. Throws a `PatternError` if the pattern cannot be
 * read, and `BudgetSpent` if it takes too long.
 */
export function* findMatches(texts: readonly string[], query: Query): Generator<void, Matches> {
  const matches: Match[] = []
  if (query.text === '') return { matches, hasMore: false }
  const find = query.isPattern ? patternFinder(query) : textFinder(query)
  for (const [place, text] of texts.entries()) {
    for (const match of yield* find(text)) matches.push({ place, ...match })
    if (matches.length > matchesMax) return { matches: matches.slice(0, matchesMax), hasMore: true }
    yield
  }
  return { matches, hasMore: false }
}

type Finder = (text: string) => Generator<void, Omit<Match, 'place'>[]>

function patternFinder({ text: source, isWord, replacement }: Query): Finder {
  const program: Program = compilePattern(source, isWord)
  const budget: Budget = { steps: stepsMax }
  return function* (text) {
    const found = yield* findInText(program, text, budget, matchesMax + 1)
    return found.map((match) => ({ from: match[0]!, to: match[1]!, insert: filledIn(replacement, text, match) }))
  }
}

/** Plain text needs no program of its own: as an expression without choices it takes linear time. */
function textFinder({ text: wanted, isWord, replacement }: Query): Finder {
  const escaped = wanted.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  // A word begins where no word character is before it. What is no word character has no such edge.
  const edge = (char: string, before: string) => (isWord && /[\p{L}\p{N}_]/u.test(char) ? before : '')
  const first = edge(wanted.at(0) ?? '', '(?<![\\p{L}\\p{N}_])')
  const last = edge(wanted.at(-1) ?? '', '(?![\\p{L}\\p{N}_])')
  const pattern = new RegExp(`${first}${escaped}${last}`, 'giu')
  // biome-ignore lint/correctness/useYield: it has the same shape as the other finder
  return function* (text) {
    const found: Omit<Match, 'place'>[] = []
    for (const {
      index,
      0: { length },
    } of text.matchAll(pattern)) {
      found.push({ from: index, to: index + length, insert: replacement })
      if (found.length > matchesMax) break
    }
    return found
  }
}

/** Puts the groups of a match into a replacement: `$1` to `$9`, `$&` for the whole match and `$$` for a dollar sign. */
function filledIn(replacement: string, text: string, match: Found): string {
  return replacement.replaceAll(/\$([1-9&$])/g, (_, name: string) => {
    if (name === '$') return '$'
    const group = name === '&' ? 0 : Number(name)
    const [from, to] = [match[group * 2], match[group * 2 + 1]]
    return from === undefined || to === undefined ? '' : text.slice(from, to)
  })
}
