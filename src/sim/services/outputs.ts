import { type PathStep, parsePath } from '../../domain/workflow/reference.ts'

/** Translates paths of outputs by a table of a rule: by its longest entry that begins the path. */
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
