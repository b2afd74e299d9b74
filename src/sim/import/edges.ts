import type { Edge } from '../../domain/workflow/workflow.ts'
import type { SimDocument, SimEdge } from '../sim-document.ts'
import type { BlockImport } from './block-import.ts'

/** `lost`: edges that cannot exist here, kept for an export. */
export type ImportedEdges = { edges: Edge[]; notes: string[]; lost: { edges?: SimEdge[] } }

/** The edges between the imported blocks. Edges to notes or to missing blocks cannot exist here. */
export function edgesOf(sim: SimDocument, blocks: BlockImport): ImportedEdges {
  const edges: Edge[] = []
  const lost: SimEdge[] = []
  const taken = new Set<string>()
  for (const edge of sim.edges) {
    const end = blocks.endOf(edge)
    const target = blocks.startOf(edge.target)
    if (!end || target === undefined) {
      lost.push(edge)
      continue
    }
    const isNew = edge.id !== undefined && !taken.has(edge.id)
    if (isNew && edge.id !== undefined) taken.add(edge.id)
    const { targetHandle } = edge
    const { source, handle } = end
    edges.push({
      ...(isNew && edge.id !== undefined ? { id: edge.id } : {}),
      ...{ source, target },
      ...(handle === undefined ? {} : { sourceHandle: handle }),
      ...(targetHandle === undefined ? {} : { targetHandle }),
    })
  }
  edges.push(...blocks.innerEdges)
  const count = lost.length === 1 ? '1 connection' : `${lost.length} connections`
  const notes = lost.length === 0 ? [] : [`Skipped ${count} from or to a note, or a block that is not in the file.`]
  return { edges, notes, lost: lost.length === 0 ? {} : { edges: lost } }
}
