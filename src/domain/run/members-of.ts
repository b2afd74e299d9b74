import { setMember } from './input.ts'

/** Makes an object of entries. A name that occurs several times gets a list. */
export function membersOf(entries: Iterable<readonly [name: string, value: unknown]>): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [name, values] of Map.groupBy(entries, ([name]) => name)) {
    setMember(members, name, values.length === 1 ? values[0]?.[1] : values.map(([, value]) => value))
  }
  return members
}
