/** Builds workflow files as Sim exports them. */

export type SimFile = { version: string; exportedAt: string; state: SimState }
export type SimState = {
  blocks: Record<string, Record<string, unknown>>
  edges: Record<string, unknown>[]
  loops: Record<string, unknown>
  parallels: Record<string, unknown>
  variables: Record<string, unknown>
  metadata: Record<string, unknown>
}

export type SimBlockParts = { enabled?: boolean; triggerMode?: boolean; data?: Record<string, unknown> }

/** `values`: of the sub-blocks, by ID. */
export function simBlock(
  id: string,
  type: string,
  values: Record<string, unknown> = {},
  { name = id, ...parts }: SimBlockParts & { name?: string } = {},
): Record<string, unknown> {
  const subBlocks = Object.fromEntries(
    // Exports name this type for many sub-blocks, whatever they are.
    Object.entries(values).map(([key, value]) => [key, { id: key, type: 'short-input', value }]),
  )
  return { ...{ id, type, name, position: { x: 10, y: 20 }, subBlocks, outputs: {}, enabled: true }, ...parts }
}

/** An edge of the form `source > target` or `source:handle > target`. */
export function simEdge(text: string, index = 0): Record<string, unknown> {
  const [from = '', target = ''] = text.split(' > ')
  const at = from.indexOf(':')
  const [source, sourceHandle] = at === -1 ? [from, 'source'] : [from.slice(0, at), from.slice(at + 1)]
  return { id: `edge-${index}`, source, target, sourceHandle, targetHandle: 'target' }
}

export function simFile(
  blocks: readonly Record<string, unknown>[],
  edges: readonly string[] = [],
  more: Partial<Omit<SimState, 'blocks' | 'edges'>> = {},
): SimFile {
  return {
    version: '1.0',
    exportedAt: '2026-08-20T10:00:00.000Z',
    state: {
      blocks: Object.fromEntries(blocks.map((block) => [String(block['id']), block])),
      edges: edges.map(simEdge),
      ...{ loops: {}, parallels: {}, variables: {}, metadata: { name: 'From Sim' } },
      ...more,
    },
  }
}
