import { isObject } from '../../domain/run/input.ts'
import { mayHoldSegments } from '../../domain/workflow/reference.ts'
import { parseJson, type SimValues } from '../import/sim-values.ts'
import { textOf } from '../sim-document.ts'

/** Reads the value of one parameter from the sub-blocks of a block. Undefined when none of them has a value. */
export type Read = (values: SimValues) => unknown

/** The value of the first sub-block that has one. The other IDs are for other input modes and versions. */
export function from(...ids: readonly string[]): Read {
  return (values) => {
    const id = ids.find((each) => isGiven(values.peek(each)))
    return id === undefined ? undefined : values.take(id)
  }
}

/** The same, as text. Numbers and booleans become text. */
export function text(...ids: readonly string[]): Read {
  return then(from(...ids), (value) => (typeof value === 'object' ? value : textOf(value)))
}

/** The value of JSON text. Text that is not JSON, such as text with references, stays unchanged. */
export function json(...ids: readonly string[]): Read {
  return then(from(...ids), (value) => (typeof value === 'string' ? (parseJson(value) ?? value) : value))
}

/** A list, from JSON or from texts between commas. */
export function list(...ids: readonly string[]): Read {
  return then(from(...ids), listOf)
}

/** A number. Text with references stays unchanged. */
export function number(...ids: readonly string[]): Read {
  return then(from(...ids), (value) => {
    const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : value
  })
}

/** A boolean. Text with references stays unchanged. */
export function flag(...ids: readonly string[]): Read {
  return then(from(...ids), (value) => (value === 'true' ? true : value === 'false' ? false : value))
}

export function fixed(value: unknown): Read {
  return () => value
}

/** Converts the value that another read returns. */
export function then(read: Read, convert: (value: unknown) => unknown): Read {
  return (values) => {
    const value = read(values)
    return value === undefined ? undefined : convert(value)
  }
}

/** An object with the members that have a value; undefined when none has a value. */
export function object(members: Readonly<Record<string, Read>>): Read {
  return (values) => {
    const found = readAll(members, values)
    return Object.keys(found).length === 0 ? undefined : found
  }
}

export function readAll(members: Readonly<Record<string, Read>>, values: SimValues): Record<string, unknown> {
  const found = Object.entries(members).map(([name, read]) => [name, read(values)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

/** Whether an author has set a value. Empty lists and objects do not count. */
export function isGiven(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'string') return value.trim() !== ''
  if (Array.isArray(value)) return value.length > 0
  return !isObject(value) || Object.keys(value).length > 0
}

/** Whether a text contains references, so that its value is known only in a run. */
export function isOpen(value: unknown): boolean {
  return typeof value === 'string' && mayHoldSegments(value)
}

function listOf(value: unknown): unknown {
  if (typeof value !== 'string') return Array.isArray(value) ? value : [value]
  const parsed = parseJson(value)
  if (Array.isArray(parsed)) return parsed
  // A single reference may be to a list.
  if (/^\s*<[^<>]+>\s*$/.test(value)) return value.trim()
  return value
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
