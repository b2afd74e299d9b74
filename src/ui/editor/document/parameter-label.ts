import { own } from '../../../domain/edits/same-value.ts'
import type { ParameterSchema } from '../../../http/routes/editor/blocks.ts'

/** The label of a parameter: its title, or its name in words. */
export function parameterLabel(name: string, schema: ParameterSchema | undefined): string {
  return schema?.title ?? labelOf(name)
}

/** The label of a value that is one of several, or the value. */
export function choiceLabel(value: string, schema: ParameterSchema | undefined): string {
  return own(schema?.['x-labels'], value) ?? value
}

/** Shows a choice by its label. Any other value stays as it is. */
export function labelledValue(
  value: unknown,
  path: readonly string[],
  properties: Readonly<Record<string, ParameterSchema>> | undefined,
): unknown {
  if (typeof value !== 'string') return value
  let at: ParameterSchema | undefined = properties && { properties }
  for (const name of path) at = own(at?.properties, name) ?? at?.items
  return choiceLabel(value, at)
}

/** The labels along a path into the parameters: `Headers › Authorization › Value`. */
export function pathLabel(
  path: readonly string[],
  properties: Readonly<Record<string, ParameterSchema>> | undefined,
): string {
  let at: ParameterSchema | undefined = properties && { properties }
  const labels = path.map((name): string => {
    const inner: ParameterSchema | undefined = own(at?.properties, name)
    // An item of a list is named by its own text.
    const isItem = !inner && at?.items !== undefined
    at = inner ?? at?.items
    return isItem ? name : parameterLabel(name, inner)
  })
  return labels.join(' › ')
}

/** `maxTokens` → `Max tokens`. */
function labelOf(name: string): string {
  const words = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
