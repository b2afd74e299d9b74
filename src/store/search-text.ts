import type { LogRow } from '../domain/run/log.ts'
import { searchable } from '../domain/text/searchable.ts'

/** The text of an entry that a search reads, besides IDs and names: its failure and labels. */
export function searchTextOf({ failure, labels }: Pick<LogRow, 'failure' | 'labels'>): string {
  const texts = [failure?.message, failure?.code, failure?.blockName, ...Object.entries(labels ?? {}).flat()]
  return searchable(texts.filter((text) => text != null).join('\n'))
}
