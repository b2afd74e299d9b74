import MiniSearch from 'minisearch'

/** A section of the documentation. `address` leads to its heading. */
export type SearchEntry = { address: string; page: string; heading: string; text: string }

/** A section that was found: the part of its text around the first word that matches, and where to mark it. */
export type SearchResult = {
  address: string
  page: string
  heading: string
  excerpt: { text: string; isMatch: boolean }[]
}

const resultsMax = 12
const excerptLength = 160

/** Finds sections by words, by the beginnings of words, and by words with a typing error. */
export class DocsSearch {
  readonly #index: MiniSearch<SearchEntry & { id: number }>
  readonly #entries: readonly SearchEntry[]

  constructor(entries: readonly SearchEntry[]) {
    this.#entries = entries
    this.#index = new MiniSearch({
      fields: ['heading', 'page', 'text'],
      searchOptions: {
        boost: { heading: 4, page: 2 },
        combineWith: 'AND',
        prefix: true,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      },
    })
    this.#index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  }

  find(query: string): SearchResult[] {
    return this.#index
      .search(query)
      .slice(0, resultsMax)
      .map(({ id, terms }) => {
        const { address, page, heading, text } = this.#entries[id as number]!
        return { address, page, heading, excerpt: excerptOf(text, terms) }
      })
  }
}

/** The part of a text around the first of some words, cut into pieces that match and pieces that do not. */
function excerptOf(text: string, words: readonly string[]): SearchResult['excerpt'] {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.map(escaped).join('|')})`, 'giu')
  const first = text.search(pattern)
  const start = first < excerptLength / 2 ? 0 : text.lastIndexOf(' ', first - excerptLength / 3) + 1
  const cut = text.slice(start, start + excerptLength)
  const shown = `${start > 0 ? '… ' : ''}${cut}${start + excerptLength < text.length ? '…' : ''}`
  return shown
    .split(pattern)
    .map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }))
    .filter((piece) => piece.text !== '')
}

/** Older browsers do not have `RegExp.escape`. */
function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
