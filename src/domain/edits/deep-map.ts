/** Maps every string in a value. Returns the same object when nothing changed. */
export function deepMap(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => deepMap(item, map))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (typeof value === 'object' && value !== null)
    return mapMembers(value as Record<string, unknown>, (one) => deepMap(one, map))
  return value
}

/** Maps every member. Returns the same object when nothing changed. */
export function mapMembers<Member>(
  members: Readonly<Record<string, Member>>,
  map: (member: Member) => Member,
): Readonly<Record<string, Member>> {
  let changed = false
  const mapped = Object.entries(members).map(([id, member]) => {
    const next = map(member)
    changed ||= next !== member
    return [id, next] as const
  })
  return changed ? Object.fromEntries(mapped) : members
}
