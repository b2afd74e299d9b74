import { type PathStep, parsePath, readPath } from '../workflow/reference.ts'

/** A path into JSON data, such as `data.items` or `errors[0].message`. An empty path is the data itself. */
type ValuePath = readonly PathStep[]

function valuePath(text: string): ValuePath {
  return text === '' ? [] : parsePath(text.startsWith('[') ? text : `.${text}`)
}

/** The value at a path; undefined when a step is absent. */
export function valueAt(data: unknown, text: string): unknown {
  return readPath(data, valuePath(text))
}

/**
 * A copy of the data with another value at the path. Only the objects on the way are copied. Objects that are absent
 * are created.
 */
export function withValueAt(data: unknown, text: string, value: unknown): unknown {
  return placed(data, valuePath(text), value)
}

function placed(data: unknown, [step, ...rest]: ValuePath, value: unknown): unknown {
  if (step === undefined) return value
  const copy: Record<PathStep, unknown> | unknown[] = Array.isArray(data)
    ? [...(data as unknown[])]
    : { ...(typeof data === 'object' ? (data as Record<string, unknown>) : {}) }
  const inner: unknown = Object.hasOwn(copy, step) ? (copy as Record<PathStep, unknown>)[step] : undefined
  Object.defineProperty(copy, step, { ...plain, value: placed(inner, rest, value) })
  return copy
}

/** Defines a member of any name, also `__proto__`. */
const plain = { configurable: true, enumerable: true, writable: true }
