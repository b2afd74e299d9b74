import { diffArrays } from 'diff'

export type DiffLine = { kind: 'same' | 'added' | 'removed'; text: string }
/** Lines that are the same in both texts and far from any change. */
export type FoldedLines = { kind: 'folded'; count: number }

/**
 * The lines of two texts, matched with each other. Texts that have almost nothing in common are not matched, because
 * that would take quadratic time: the result then removes all lines and adds the others.
 */
export function textDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const start = commonStart(old, now)
  const end = commonStart(old.slice(start).reverse(), now.slice(start).reverse())
  const [oldMiddle, nowMiddle] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const matched = diffArrays(oldMiddle, nowMiddle, { maxEditLength: editsMax })
  const middle = matched
    ? matched.flatMap(({ added, removed, value }) => linesOf(value, added ? 'added' : removed ? 'removed' : 'same'))
    : [...linesOf(oldMiddle, 'removed'), ...linesOf(nowMiddle, 'added')]
  return [...linesOf(old.slice(0, start), 'same'), ...middle, ...linesOf(old.slice(old.length - end), 'same')]
}

/** Lines that are added or removed at most, when they are matched. The work is at most the square of this. */
const editsMax = 400

function linesOf(lines: readonly string[], kind: DiffLine['kind']): DiffLine[] {
  return lines.map((text) => ({ kind, text }))
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const end = Math.min(a.length, b.length)
  let at = 0
  while (at < end && a[at] === b[at]) at += 1
  return at
}

/** Replaces lines that are more than `context` lines away from any change. */
export function foldLines(lines: readonly DiffLine[], context = 3): (DiffLine | FoldedLines)[] {
  const isNear = new Uint8Array(lines.length)
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return
    isNear.fill(1, Math.max(0, index - context), Math.min(lines.length, index + context + 1))
  })
  const folded: (DiffLine | FoldedLines)[] = []
  lines.forEach((line, index) => {
    const last = folded.at(-1)
    if (isNear[index]) folded.push(line)
    else if (last?.kind === 'folded') last.count += 1
    else folded.push({ kind: 'folded', count: 1 })
  })
  return folded
}
