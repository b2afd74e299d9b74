/** The most values (texts, numbers, lists, objects) in a file, and how deep they may be nested. */
const valuesMax = 500_000
const depthMax = 200

/** Says why a value is too large to be converted; undefined when it is not. Not recursive, because of deep values. */
export function findExcess(value: unknown): string | undefined {
  let count = 0
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return `The file has more than ${depthMax} levels of nesting.`
    count += level.length
    if (count > valuesMax) return `The file has more than ${valuesMax} values.`
    const next: unknown[] = []
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue
      for (const member of Object.values(each)) next.push(member)
    }
    level = next
  }
  return undefined
}
