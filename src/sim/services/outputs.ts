import { type PathStep, parsePath } from '../../domain/workflow/reference.ts'

/** Translates a path with the outputs of a rule: the longest entry with which the path begins counts. */
export function outputsBy(
  table: Readonly<Record<string, string>>,
): (path: readonly PathStep[]) => readonly PathStep[] | undefined {
  const targets = new Map(Object.entries({ error: 'error.message', ...table }))
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const target = targets.get(path.slice(0, length).join('.'))
      if (target !== undefined) return [...parsePath(`.${target}`), ...path.slice(length)]
    }
    const rest = targets.get('*')
    return rest === undefined ? undefined : [...parsePath(`.${rest}`), ...path]
  }
}
