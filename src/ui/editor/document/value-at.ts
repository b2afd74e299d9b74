import { isRecord, own } from '../../../domain/edits/same-value.ts'

/** The value at a path of member names and indexes; undefined when there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    if (Array.isArray(at)) return at[Number(name)] as unknown
    return isRecord(at) ? own(at, name) : undefined
  }, value)
}

/** A copy with another value at a path that exists. */
export function withValueAt(value: unknown, [name, ...rest]: readonly string[], next: unknown): unknown {
  if (name === undefined) return next
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (String(index) === name ? withValueAt(item, rest, next) : item))
  }
  return isRecord(value) ? { ...value, [name]: withValueAt(own(value, name), rest, next) } : value
}
