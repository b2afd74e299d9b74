import type { Document } from './document.ts'

/**
 * Updates all references after a block was renamed: `<old.path>` becomes `<new.path>` in parameters, container settings
 * and code. `from` and `to` are normalised names.
 */
export function renameReferences(document: Document, from: string, to: string): Document {
  if (from === to) return document
  const rewrite = (text: string) => text.replaceAll(reference, (whole, name: string) => (same(name) ? `<${to}` : whole))
  const same = (name: string) => name.toLowerCase().replaceAll(/\s+/g, '') === from
  const blocks = mapMembers(document.blocks, (block) => {
    if (!block.params) return block
    const params = deepMap(block.params, rewrite)
    return params === block.params ? block : { ...block, params: params as typeof block.params }
  })
  return {
    ...document,
    blocks,
    ...(document.loops
      ? { loops: mapMembers(document.loops, (entry) => deepMap(entry, rewrite) as typeof entry) }
      : {}),
    ...(document.parallels
      ? { parallels: mapMembers(document.parallels, (entry) => deepMap(entry, rewrite) as typeof entry) }
      : {}),
  }
}

/** The block name in a reference: everything up to the first dot, bracket or end. */
const reference = /<([^<>.[\]"']+)(?=[.[>])/g

function mapMembers<Member>(members: Record<string, Member>, map: (member: Member) => Member): Record<string, Member> {
  let changed = false
  const mapped = Object.entries(members).map(([id, member]) => {
    const next = map(member)
    changed ||= next !== member
    return [id, next] as const
  })
  return changed ? Object.fromEntries(mapped) : members
}

/** Maps every string in a value. Returns the same object when nothing changed. */
function deepMap(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => deepMap(item, map))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (typeof value === 'object' && value !== null)
    return mapMembers(value as Record<string, unknown>, (one) => deepMap(one, map))
  return value
}
