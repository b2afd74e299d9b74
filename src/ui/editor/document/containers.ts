import type { Block, Document } from './document.ts'

/** Gives a new loop or parallel its entry, and updates the lists of blocks. */
export function withContainer(document: Document, block: Block): Document {
  if (block.type === 'loop') {
    const entry = document.loops?.[block.id] ?? { id: block.id, nodes: [], loopType: 'for' as const, iterations: 3 }
    return syncNodes({ ...document, loops: { ...document.loops, [block.id]: entry } })
  }
  if (block.type === 'parallel') {
    const entry = document.parallels?.[block.id] ?? {
      id: block.id,
      nodes: [],
      parallelType: 'collection' as const,
      distribution: '',
    }
    return syncNodes({ ...document, parallels: { ...document.parallels, [block.id]: entry } })
  }
  return block.parentId ? syncNodes(document) : document
}

/** Updates the block lists of containers from the blocks' `parentId`. */
export function syncNodes(document: Document): Document {
  const sync = <Entry extends { nodes?: string[] }>(entries: Record<string, Entry> | undefined) =>
    entries &&
    Object.fromEntries(
      Object.entries(entries).map(([id, entry]) => {
        const nodes = Object.values(document.blocks).flatMap((block) => (block.parentId === id ? [block.id] : []))
        const same = entry.nodes?.length === nodes.length && entry.nodes.every((node, at) => node === nodes[at])
        return [id, same ? entry : { ...entry, nodes }]
      }),
    )
  const [loops, parallels] = [sync(document.loops), sync(document.parallels)]
  return { ...document, ...(loops ? { loops } : {}), ...(parallels ? { parallels } : {}) }
}
