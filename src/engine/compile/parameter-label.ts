import type { TSchema } from '@sinclair/typebox'

/**
 * The words that the editor's form uses for a place in a parameter: `Model`, `Headers › 1 › Key`. Entries of a list
 * count from 1. `path`: inside the parameter, such as `.0.key`.
 */
export function parameterLabel(name: string, schema: TSchema | undefined, path = ''): string {
  const labels = [titleOf(name, schema)]
  let at: TSchema | undefined = schema
  for (const step of path.split('.').slice(1)) {
    const inner: TSchema | undefined = (at?.['properties'] as Record<string, TSchema> | undefined)?.[step]
    const isEntry: boolean = inner === undefined && /^\d+$/.test(step)
    labels.push(isEntry ? String(Number(step) + 1) : titleOf(step, inner))
    at = inner ?? (at?.['items'] as TSchema | undefined)
  }
  return labels.join(' › ')
}

/** The title, or the name in words: `onError` becomes `On error`. */
function titleOf(name: string, schema: TSchema | undefined): string {
  if (schema?.title !== undefined) return schema.title
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
