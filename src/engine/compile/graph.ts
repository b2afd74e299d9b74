import type { Block } from '../../domain/workflow/workflow.ts'
import type { BlockDefinition } from '../block.ts'

/** The blocks of a document by scope, with their edges. */
export type Graph = { root: GraphScope; nodes: Map<string, GraphNode> }

export type GraphScope = {
  container: GraphNode | undefined
  parent: GraphScope | undefined
  /** 0 for the root. */
  depth: number
  nodes: GraphNode[]
}

export type GraphNode = {
  id: string
  block: Block
  name: string
  definition: BlockDefinition
  scope: GraphScope
  slot: number
  /** Outgoing edges. The handles at the end of a container are `source` here. */
  outgoing: { port: string; target: GraphNode }[]
  /** Edges from blocks of the same scope. */
  incoming: number
  /** Whether the container's start edge leads here. */
  isStart: boolean
  body: GraphScope | undefined
}

export type Registry = ReadonlyMap<string, BlockDefinition>
