/**
 * The number of a line, from 1, in code that has changed since. A line of a part that has changed keeps its place in it
 * as long as the part has as many lines as before. Undefined when it is not known which line it is now.
 */
export function lineNow(before: string, now: string, line: number): number | undefined {
  if (before === now) return line
  const [old, fresh] = [before.split('\n'), now.split('\n')]
  const start = commonStart(old, fresh)
  if (line <= start) return line
  const end = commonStart(old.slice(start).reverse(), fresh.slice(start).reverse())
  const added = fresh.length - old.length
  if (line > old.length - end) return line + added
  return added === 0 ? line : undefined
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const end = Math.min(a.length, b.length)
  let at = 0
  while (at < end && a[at] === b[at]) at += 1
  return at
}
