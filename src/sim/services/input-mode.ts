import { isGiven } from './read.ts'

/**
 * Removes the old choices of fields in advanced mode: `channel` if the author has entered `manualChannel`. Sim keeps
 * the old choice in the file. `prefix`: precedes the name of a field in `modes`.
 */
export function valuesInMode(
  values: ReadonlyMap<string, unknown>,
  modes: Readonly<Record<string, unknown>>,
  prefix: string,
): ReadonlyMap<string, unknown> {
  const isReplaced = (name: string) => {
    const key = prefix + name
    if (!Object.hasOwn(modes, key) || modes[key] !== 'advanced') return false
    return isGiven(values.get(`manual${name.charAt(0).toUpperCase()}${name.slice(1)}`))
  }
  return new Map([...values].filter(([name]) => !isReplaced(name)))
}
