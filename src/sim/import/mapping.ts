import type { PathStep } from '../../domain/workflow/reference.ts'
import type { SimBlock, SimDocument, SimEdge, SimTool } from '../sim-document.ts'
import type { SimValues } from './sim-values.ts'

/**
 * The input of the mapper of one block type. A mapper copies texts as they are: references to other blocks are
 * translated afterwards, in every text of the parameters.
 */
export type BlockToMap = {
  block: SimBlock
  /** The sub-blocks. The import keeps the values that a mapper does not take with the block, and reports them. */
  values: SimValues
  document: SimDocument
}

/** The result for a block: one of our blocks, or a placeholder. */
export type Mapping = MappedBlock | Placeholder

/** The block becomes one of ours, with the same ID, name and position. */
export type MappedBlock = {
  type: string
  params: Record<string, unknown>
  /** Blocks that follow, each connected to the one before. The block's outgoing edges start at the last one. */
  then?: readonly FollowingBlock[]
  /** Our handle for an outgoing edge. If this is absent: the handle of the edge, or `source`. */
  handle?(edge: SimEdge): string
  /** Translates a path of the original's outputs; undefined if we have no such output. Absent: paths are equal. */
  output?(path: readonly PathStep[]): readonly PathStep[] | undefined
  credentials?: readonly WantedCredential[]
  /** Whole sentences about the differences. The report puts the block's name in front of them. */
  notes?: readonly string[]
  /** Values for the export that have no place in `params`, such as the ID of a condition's last branch. */
  kept?: Readonly<Record<string, unknown>>
  /** Parts without a place in our block, such as tools that agents cannot call. Each becomes a placeholder block. */
  beside?: readonly PlaceholderBeside[]
}

/** `suffix`: follows the first block's ID in this block's ID. `leaves`: the handle at which the next block starts. */
export type FollowingBlock = {
  suffix: string
  name: string
  type: string
  params: Record<string, unknown>
  leaves?: string
}

/** `suffix`: as above. `values`: tell the export where the part belongs. `leaves`: the handle that leads to it. */
export type PlaceholderBeside = {
  suffix: string
  name: string
  from: string
  original: unknown
  needs: string
  values: Readonly<Record<string, unknown>>
  leaves?: string
}

/**
 * The block becomes a placeholder that keeps its content. `needs` completes the sentence "This block needs …", such as
 * `a knowledge base`.
 */
export type Placeholder = { needs: string }

/** A credential that the workspace must have, because a block names it. The user fills it in. */
export type WantedCredential = { name: string; kind?: string }

/** The result for a tool of an agent. A tool that our agent cannot call becomes a placeholder beside the agent. */
export type ToolMapping = MappedTool | Placeholder

/** `tool`: an entry of the parameter `tools` of our agent. */
export type MappedTool = {
  tool: Record<string, unknown>
  credentials?: readonly WantedCredential[]
  notes?: readonly string[]
  /** The members of `SimTool.params` that the tool does not contain. */
  kept?: Readonly<Record<string, unknown>>
}

export type MapBlock = (input: BlockToMap) => Mapping | undefined
export type MapTool = (tool: SimTool, agent: SimBlock) => ToolMapping | undefined

export function isMapped(mapping: Mapping): mapping is MappedBlock {
  return 'type' in mapping
}
