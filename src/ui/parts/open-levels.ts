/**
 * How many levels of a value can be shown at once: at most `levelsMax`, with at most `valuesMax` values in total. The
 * output of a run may have any shape and 10 MB.
 */
export function openLevels(value: unknown, levelsMax: number, valuesMax = 300): number {
  let level: readonly unknown[] = [value]
  let count = 0
  for (let depth = 0; depth < levelsMax; depth += 1) {
    const next: unknown[] = []
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue
      const members = Array.isArray(each) ? each : Object.values(each)
      count += members.length
      if (count > valuesMax) return depth
      next.push(...members)
    }
    if (next.length === 0) return levelsMax
    level = next
  }
  return levelsMax
}
