/**
 * Guesses the delimiter from the beginning of a text: the candidate that occurs equally often in most of the first
 * lines, and there most often. A comma if none occurs.
 */
export function delimiterOf(start: string, quote: string): string {
  const counts = countsPerLine(start.slice(0, sampleChars), quote)
  let best = ','
  let bestScore = 0
  for (const delimiter of candidates) {
    const perLine = counts.get(delimiter) ?? []
    const [first = 0] = perLine
    if (first === 0) continue
    const alike = perLine.filter((count) => count === first).length
    const score = (alike / perLine.length) * 1_000 + Math.min(first, 999) / 1_000
    if (score > bestScore) [best, bestScore] = [delimiter, score]
  }
  return best
}

/** How often each candidate occurs in each of the first lines, outside of quotes. */
function countsPerLine(text: string, quote: string): Map<string, number[]> {
  const counts = new Map(candidates.map((delimiter): [string, number[]] => [delimiter, [0]]))
  let lines = 1
  let isQuoted = false
  let isBlank = true
  for (const character of text) {
    if (character === quote) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (character === '\n' || character === '\r') {
      if (isBlank) continue
      if (lines === linesMax) break
      lines += 1
      isBlank = true
      for (const perLine of counts.values()) perLine.push(0)
      continue
    } else {
      const perLine = counts.get(character)
      if (perLine) perLine[lines - 1] = (perLine[lines - 1] ?? 0) + 1
    }
    isBlank = false
  }
  // The last line may be incomplete, or empty.
  if (lines > 1) for (const perLine of counts.values()) perLine.pop()
  return counts
}

const candidates = [',', ';', '\t', '|']
const linesMax = 20
const sampleChars = 65_536
