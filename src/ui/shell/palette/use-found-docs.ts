import { useEffect, useState } from 'react'
import type { DocsSearch, SearchEntry } from '../../docs/search.ts'

export type FoundDoc = { address: string; page: string; heading: string }

/** Sections of the documentation whose title has the words. The index is loaded when something is typed. */
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
  const hasWords = ({ heading, page }: FoundDoc) => {
    const title = `${heading} ${page}`.toLowerCase()
    return words.every((word) => title.includes(word))
  }
  return search.find(typed).filter(hasWords).slice(0, 4)
}

async function loadSearch(): Promise<DocsSearch> {
  const address = document.querySelector<HTMLMetaElement>('meta[name=docs-search]')?.content
  if (!address) throw new Error('The page names no search index.')
  const [{ DocsSearch }, response] = await Promise.all([import('../../docs/search.ts'), fetch(address)])
  if (!response.ok) throw new Error(`GET ${address} gave ${response.status}.`)
  return new DocsSearch((await response.json()) as SearchEntry[])
}
