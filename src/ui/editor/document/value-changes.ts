import { isRecord, own, sameValue } from '../../../domain/edits/same-value.ts'

/** A value that differs between two documents. Undefined: there is none. */
export type ValueChange = {
  /** The members that lead to it: `['headers', 'Authorization', 'value']`. */
  path: readonly string[]
  before: unknown
  after: unknown
}

/**
 * The differences between two JSON values, in time linear to their size. Members of objects are compared one by one.
 * Items of a list are compared by their `id`, `name` or `key` if that identifies each of them; any other list is one
 * value.
 */
export function valueChanges(before: unknown, after: unknown, path: readonly string[] = []): ValueChange[] {
  const members = path.length < depthMax ? comparedMembers(before, after) : undefined
  if (!members) return sameValue(before, after) ? [] : [{ path, before, after }]
  const names = new Set([...Object.keys(members.before), ...Object.keys(members.after)])
  const changes = [...names].flatMap((name) =>
    valueChanges(own(members.before, name), own(members.after, name), [...path, name]),
  )
  if (!members.order) return changes
  const [old, now] = members.order
  return [...changes, { path: [...path, 'order'], before: old, after: now }]
}

/** Deeper values are compared as a whole. */
const depthMax = 8

type Members = Record<string, unknown>
/** `order`: the names of the items in both lists, when the order of the common ones differs. */
type Compared = { before: Members; after: Members; order?: readonly [readonly string[], readonly string[]] }

function comparedMembers(before: unknown, after: unknown): Compared | undefined {
  if (isPlain(before) && isPlain(after)) return { before, after }
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined
  for (const key of ['id', 'name', 'key']) {
    const [old, now] = [itemsBy(key, before), itemsBy(key, after)]
    if (!old || !now) continue
    const nameOf = (item: unknown) => String((item as Members)[key])
    const order = [before.map(nameOf), after.map(nameOf)] as const
    return { before: old, after: now, ...(isMoved(...order) && { order }) }
  }
  return undefined
}

/** The items of a list by the text in this member; undefined unless it identifies each of them. */
function itemsBy(key: string, list: readonly unknown[]): Members | undefined {
  const entries = list.flatMap((item): [string, unknown][] => {
    const name = isRecord(item) ? own(item, key) : undefined
    return typeof name === 'string' && name !== '' ? [[name, item]] : []
  })
  const isUnique = new Set(entries.map(([name]) => name)).size === list.length
  return entries.length === list.length && isUnique ? Object.fromEntries(entries) : undefined
}

/** Whether the items that both lists have are in another order. */
function isMoved(before: readonly string[], after: readonly string[]): boolean {
  const [inBefore, inAfter] = [new Set(before), new Set(after)]
  const left = before.filter((name) => inAfter.has(name))
  const right = after.filter((name) => inBefore.has(name))
  return left.some((name, index) => name !== right[index])
}

/** An object of JSON. A value in disguise, such as a masked secret, is compared as a whole. */
function isPlain(value: unknown): value is Members {
  return isRecord(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
}
