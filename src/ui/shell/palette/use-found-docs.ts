import { useEffect, useState } from 'react'
import type { DocsSearch, SearchEntry } from '../../docs/search.ts'

export type FoundDoc = { address: string; page: string; heading: string }

/**
 * Sections of the documentation whose title has the words, or else the first ones whose text has them. The index is
 * loaded when something is typed.
 */
export function useFoundDocs(typed: string): readonly FoundDoc[] {
  const [search, setSearch] = useState<DocsSearch>()
  const isWanted = typed.trim().length >= 2
  useEffect(() => {
    if (!isWanted || search) return
    let isGone = false
    loadSearch().then(
      (loaded) => isGone || setSearch(loaded),
      // Without the documentation, the palette still finds everything else.
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [isWanted, search])
  if (!isWanted || !search) return []
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const hasWords = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const titleOf = ({ heading, page }: FoundDoc) => `${heading} ${page}`
  const found = search.find(typed)
  const titled = found.filter((doc) => hasWords(titleOf(doc)))
  if (titled.length > 0) return titled.slice(0, 4)
  return found.filter((doc) => hasWords(`${titleOf(doc)} ${doc.excerpt.map(({ text }) => text).join('')}`)).slice(0, 2)
}

async function loadSearch(): Promise<DocsSearch> {
  const address = document.querySelector<HTMLMetaElement>('meta[name=docs-search]')?.content
  if (!address) throw new Error('The page names no search index.')
  const [{ DocsSearch }, response] = await Promise.all([import('../../docs/search.ts'), fetch(address)])
  if (!response.ok) throw new Error(`GET ${address} gave ${response.status}.`)
  return new DocsSearch((await response.json()) as SearchEntry[])
}
