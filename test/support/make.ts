import type { Block, Edge, WorkflowDocument } from '../../src/domain/workflow/workflow.ts'

/** Shorthand for documents: `document({ blocks: [...], edges: ['a > b', 'a:error > c'] })`. */
export type Draft = Partial<Omit<WorkflowDocument, 'blocks' | 'edges'>> & {
  blocks: readonly Block[]
  /** `source > target`, or `source:handle > target`. */
  edges?: readonly string[]
}

export function document({ blocks, edges = [], ...rest }: Draft): WorkflowDocument {
  return {
    name: 'Test workflow',
    ...rest,
    blocks: Object.fromEntries(blocks.map((block) => [block.id, block])),
    edges: edges.map(edgeOf),
  }
}

function edgeOf(text: string, index: number): Edge {
  const [from = '', target = ''] = text.split(' > ')
  const [source = '', sourceHandle] = from.split(/:(.*)/s)
  return { id: `e${index}`, source, target, ...(sourceHandle === undefined ? {} : { sourceHandle }) }
}

/** A block whose name is its id. */
export function block(
  id: string,
  type: string,
  params: Record<string, unknown> = {},
  more: Partial<Block> = {},
): Block {
  return { id, type, name: id, params, ...more }
}
