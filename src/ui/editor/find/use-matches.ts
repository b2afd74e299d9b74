import { useEffect, useState } from 'react'
import { messageOf } from '../../api/message-of.ts'
import type { Document } from '../document/document.ts'
import { PatternError } from './pattern.ts'
import { BudgetSpent } from './pattern-search.ts'
import { type Place, placesOf } from './places.ts'
import type { ReplacingType } from './replacement.ts'
import { findMatches, type Match, type Query } from './search.ts'

/** The result of a search, with the document that was searched and the query. */
export type FindResult = {
  query: Query
  document: Document
  places: readonly Place[]
  matches: readonly Match[]
  hasMore: boolean
  /** Why nothing was searched. */
  problem?: string
}

/** Searches shortly after the last key press or change, in pieces of a few milliseconds. */
export function useMatches(
  document: Document,
  types: ReadonlyMap<string, ReplacingType>,
  query: Query,
): FindResult | undefined {
  const [result, setResult] = useState<FindResult>()
  useEffect(() => {
    const { text } = query
    let isStopped = false
    const timer = setTimeout(async () => {
      const places = text === '' ? [] : placesOf(document, types)
      const texts = places.map((place) => place.text)
      let found: Pick<FindResult, 'matches' | 'hasMore' | 'problem'> | undefined
      try {
        found = await inSlices(findMatches(texts, query), () => isStopped)
      } catch (error) {
        found = { matches: [], hasMore: false, problem: problemOf(error) }
      }
      if (found && !isStopped) setResult({ query, document, places, ...found })
    }, delayMs)
    return () => {
      isStopped = true
      clearTimeout(timer)
    }
  }, [document, types, query])
  return result
}

const delayMs = 80
const sliceMs = 6

/** Runs a search to its end, and lets the page draw in between. Undefined when it was stopped. */
async function inSlices<Result>(
  search: Generator<void, Result>,
  isStopped: () => boolean,
): Promise<Result | undefined> {
  for (let until = performance.now() + sliceMs; ; ) {
    const { done, value } = search.next()
    if (done) return value
    if (performance.now() < until) continue
    await new Promise((resolve) => setTimeout(resolve))
    if (isStopped()) return undefined
    until = performance.now() + sliceMs
  }
}

function problemOf(error: unknown): string {
  if (error instanceof PatternError) return error.message
  return error instanceof BudgetSpent ? 'This pattern takes too long. Make it more precise.' : messageOf(error)
}
