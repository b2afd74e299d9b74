import type { Document } from '../document/document.ts'

/** A block that was added, removed or changed; `what` names the changed parts. */
export type Change = { kind: 'added' | 'removed' | 'changed'; id: string; name: string; what: string[] }

/** Changes between two documents that affect runs. Positions, notes and sample values are ignored. */
export function changesBetween(
  before: Pick<Document, 'blocks' | 'edges' | 'loops' | 'parallels' | 'variables'>,
  after: Document,
): Change[] {
  const changes: Change[] = []
  for (const [id, block] of Object.entries(after.blocks)) {
    const old = before.blocks[id]
    if (!old) {
      changes.push({ kind: 'added', id, name: block.name, what: [] })
      continue
    }
    const what: string[] = []
    if (old.name !== block.name) what.push(`renamed from ${old.name}`)
    if ((old.enabled ?? true) !== (block.enabled ?? true)) what.push(block.enabled === false ? 'disabled' : 'enabled')
    if ((old.parentId ?? null) !== (block.parentId ?? null)) what.push('moved into or out of a container')
    const names = new Set([...Object.keys(old.params ?? {}), ...Object.keys(block.params ?? {})])
    for (const name of names)
      if (!same(withoutSamples(old.params?.[name]), withoutSamples(block.params?.[name]))) what.push(name)
    const isSameLoop = same(ownSettings(before.loops?.[id]), ownSettings(after.loops?.[id]))
    const isSameParallel = same(ownSettings(before.parallels?.[id]), ownSettings(after.parallels?.[id]))
    if (!isSameLoop || !isSameParallel) what.push('settings')
    if (!same(outgoingEdges(before.edges, id), outgoingEdges(after.edges, id))) what.push('connections')
    if (what.length > 0) changes.push({ kind: 'changed', id, name: block.name, what })
  }
  for (const [id, block] of Object.entries(before.blocks)) {
    if (!after.blocks[id]) changes.push({ kind: 'removed', id, name: block.name, what: [] })
  }
  if (!same(before.variables ?? {}, after.variables ?? {}))
    changes.push({ kind: 'changed', id: 'variables', name: 'Workflow variables', what: [] })
  return changes
}

function outgoingEdges(edges: Document['edges'], id: string): string[] {
  return edges
    .filter(({ source }) => source === id)
    .map(({ target, sourceHandle }) => `${sourceHandle ?? 'source'} ${target}`)
    .toSorted()
}

/** A parameter without the sample values of its fields, if it is an input format. */
function withoutSamples(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((item: unknown) => (isField(item) ? { ...item, value: undefined } : item))
}

function isField(item: unknown): item is Record<string, unknown> {
  return typeof item === 'object' && item !== null && 'name' in item && 'type' in item
}

/** The settings of a loop or parallel, without the list of its inner blocks. */
function ownSettings(entry: { nodes?: string[]; id?: string } | undefined): unknown {
  if (!entry) return undefined
  const { nodes: _nodes, id: _id, ...settings } = entry
  return settings
}

/** Whether two values are equal as JSON, in any order of members. */
function same(a: unknown, b: unknown): boolean {
  return text(a) === text(b)
}

function text(value: unknown): string {
  return (
    JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'object' && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).toSorted(([x], [y]) => (x < y ? -1 : 1)))
        : each,
    ) ?? ''
  )
}
