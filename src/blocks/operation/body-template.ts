import { isObject } from '../../domain/run/input.ts'

/**
 * Fills in a body template: `{ "$param": "name" }` stands for a parameter. A part of which all parameters are absent is
 * left out; undefined when that is the whole body.
 */
export function filledTemplate(template: unknown, values: ReadonlyMap<string, unknown>): unknown {
  return fill(template, values).value
}

/** `isAbsent`: it has parameters, and none of them has a value. */
type Filled = { value: unknown; isAbsent: boolean; hasParams: boolean }

function fill(template: unknown, values: ReadonlyMap<string, unknown>): Filled {
  if (Array.isArray(template)) {
    const parts = template.map((each) => fill(each, values))
    return whole(parts, () => parts.filter(({ isAbsent }) => !isAbsent).map(({ value }) => value))
  }
  if (!isObject(template)) return { value: template, isAbsent: false, hasParams: false }
  const { $param: name } = template
  if (typeof name === 'string') {
    return { value: values.get(name), isAbsent: !values.has(name), hasParams: true }
  }
  const members = Object.entries(template).map(([key, each]) => ({ key, ...fill(each, values) }))
  const present = members.filter(({ isAbsent }) => !isAbsent)
  return whole(members, () => Object.fromEntries(present.map(({ key, value }) => [key, value])))
}

function whole(parts: readonly Filled[], value: () => unknown): Filled {
  const withParams = parts.filter(({ hasParams }) => hasParams)
  const isAbsent = withParams.length > 0 && withParams.every(({ isAbsent: absent }) => absent)
  return { value: isAbsent ? undefined : value(), isAbsent, hasParams: withParams.length > 0 }
}
