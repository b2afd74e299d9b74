import { isRecord, own, sameValue } from './same-value.ts'

/** Two merges of a list: rows that both changed differently are mine in one and theirs in the other. */
export type MergedRows = { mine: Row[]; theirs: Row[] }

type Row = Readonly<Record<string, unknown>>
type Rows = ReadonlyMap<string, Row>

/**
 * Merges a list that two people changed, row by row. Undefined when its rows have no identity: a member that every row
 * has and that differs in all rows of each list; or when both put the rows into another order. In time linear to the
 * lists.
 */
export function mergeRows(lists: { base: unknown; mine: unknown; theirs: unknown }): MergedRows | undefined {
  const { base = [], mine, theirs } = lists
  if (![base, mine, theirs].every(isListOfRecords)) return undefined
  const all = [base, mine, theirs] as Row[][]
  const identity = identities.find((member) => all.every((rows) => isUnique(rows, member)))
  if (identity === undefined) return undefined
  const byKey = (rows: unknown): Rows => new Map((rows as Row[]).map((row) => [String(row[identity]), row]))
  const [was, my, their] = [byKey(base), byKey(mine), byKey(theirs)]
  const order = orderOf(was, my, their)
  if (!order) return undefined
  const merged = (winner: 'mine' | 'theirs') =>
    order.flatMap((key) => {
      const [before, is, will] = [was.get(key), my.get(key), their.get(key)]
      const row = mergedRow({ before, mine: is, theirs: will }, winner)
      return row ? [row] : []
    })
  return { mine: merged('mine'), theirs: merged('theirs') }
}

/** The members that may identify a row, the surest first. */
const identities = ['id', 'key', 'name']

function isListOfRecords(value: unknown): boolean {
  return Array.isArray(value) && value.every(isRecord)
}

function isUnique(rows: readonly Row[], member: string): boolean {
  const keys = rows.map((row) => own(row, member))
  return keys.every((key) => typeof key === 'string' && key !== '') && new Set(keys).size === keys.length
}

/** Undefined: the row was removed, or has not existed. */
type Sides = { before: Row | undefined; mine: Row | undefined; theirs: Row | undefined }

function mergedRow({ before, mine, theirs }: Sides, winner: 'mine' | 'theirs'): Row | undefined {
  if (sameValue(mine, before)) return theirs
  if (sameValue(theirs, before) || sameValue(mine, theirs)) return mine
  const [won, lost] = winner === 'mine' ? [mine, theirs] : [theirs, mine]
  if (!won || !lost) return won
  // Different members of a row, such as its value and whether it is used, contradict each other no more than rows do.
  const names = new Set([...Object.keys(won), ...Object.keys(lost)])
  const members = Array.from(names, (name): [string, unknown] => {
    const [was, is, other] = [own(before, name), own(won, name), own(lost, name)]
    return [name, sameValue(is, was) ? other : is]
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/**
 * The keys of both lists: in the order of the one who changed the order, with the rows that only the other one has
 * behind the row that they follow there.
 */
function orderOf(was: Rows, my: Rows, their: Rows): string[] | undefined {
  const shared = [...was.keys()].filter((key) => my.has(key) && their.has(key))
  const isShared = new Set(shared)
  const [myOrder, theirOrder] = [my, their].map((rows) => [...rows.keys()].filter((key) => isShared.has(key)))
  const isMyOrderNew = !sameValue(myOrder, shared)
  if (isMyOrderNew && !sameValue(theirOrder, shared) && !sameValue(myOrder, theirOrder)) return undefined
  const [first, second] = isMyOrderNew ? [my, their] : [their, my]
  const followers = new Map<string | undefined, string[]>()
  let last: string | undefined
  for (const key of second.keys()) {
    if (first.has(key)) last = key
    else followers.set(last, [...(followers.get(last) ?? []), key])
  }
  const behind = (key: string | undefined) => followers.get(key) ?? []
  return [...behind(undefined), ...[...first.keys()].flatMap((key) => [key, ...behind(key)])]
}
