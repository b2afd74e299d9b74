/** The most similar name, or undefined when none is similar enough. */
export function nearest(wanted: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const name of names) {
    const distance = name.startsWith(wanted) && wanted.length > 1 ? 1 : editDistance(wanted, name)
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  return best
}

/** The number of letters to insert, remove, replace or swap with a neighbour to turn one text into the other. */
export function editDistance(from: string, to: string): number {
  let previous: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, previous[j - 2]! + 1)
      }
      next.push(least)
    }
    previous = row
    row = next
  }
  return row[to.length]!
}

/** ` Did you mean "serve"?`, or nothing. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const name = nearest(wanted, names)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}
