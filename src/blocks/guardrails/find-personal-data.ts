import type { Slices } from '../../domain/slices.ts'
import { type PersonalData, type PersonalDataName, personalData, personalDataNames } from './personal-data.ts'

/** A piece of personal data in a text. `start` and `end` count UTF-16 units. */
export type Detected = { type: PersonalDataName; start: number; end: number; text: string }

/** Finds personal data of the given kinds, in the order of the text. The results do not overlap. */
export function* findPersonalData(text: string, kinds: ReadonlySet<PersonalDataName>): Slices<Detected[]> {
  const found: Found[] = []
  for (const [rank, type] of personalDataNames.entries()) {
    if (kinds.has(type)) yield* findKind(text, type, rank, found)
  }
  found.sort((a, b) => a.start - b.start || a.rank - b.rank)
  const merged: Found[] = []
  for (const one of found) {
    const last = merged.at(-1)
    if (!last || one.start >= last.end) {
      merged.push(one)
      continue
    }
    // Both are masked as a whole.
    const { type, rank } = one.rank < last.rank ? one : last
    merged[merged.length - 1] = { type, rank, start: last.start, end: Math.max(last.end, one.end) }
  }
  return merged.map(({ type, start, end }) => ({ type, start, end, text: text.slice(start, end) }))
}

/** Replaces each piece of personal data with its kind, such as `<EMAIL_ADDRESS>`. */
export function masked(text: string, detected: readonly Detected[]): string {
  const parts: string[] = []
  let from = 0
  for (const { type, start, end } of detected) {
    parts.push(text.slice(from, start), `<${type}>`)
    from = end
  }
  parts.push(text.slice(from))
  return parts.join('')
}

type Found = { type: PersonalDataName; rank: number; start: number; end: number }

/** The matches in a slice. Checking a match takes some microseconds. */
const sliceMatches = 50
/** A search of this many characters takes at most a millisecond, even if it finds nothing. */
const windowChars = 32_768
/** The longest possible match. */
const matchCharsMax = 2_100
/** How far the patterns look before and behind a match. */
const aroundChars = 4

/** Searches the text window by window, because a search cannot pause. */
function* findKind(text: string, type: PersonalDataName, rank: number, found: Found[]): Slices<void> {
  const { pattern, lengthIn }: PersonalData = personalData[type]
  const regex = new RegExp(pattern, `${pattern.flags}g`)
  let matches = 0
  let from = 0
  for (let at = 0; at < text.length; at += windowChars) {
    const begin = Math.max(0, at - aroundChars)
    const part = text.slice(begin, at + windowChars + matchCharsMax + aroundChars)
    regex.lastIndex = Math.max(at, from) - begin
    for (let match = regex.exec(part); match; match = regex.exec(part)) {
      const { index, 0: matched } = match
      const start = begin + index
      if (start >= at + windowChars) break
      const length = lengthIn ? lengthIn(matched) : matched.length
      // The next match may begin inside a rejected match, or after the end of a shortened match.
      from = start + Math.max(1, length)
      regex.lastIndex = from - begin
      if (length > 0) found.push({ type, rank, start, end: start + length })
      matches += 1
      if (matches % sliceMatches === 0) yield
    }
    yield
  }
}
