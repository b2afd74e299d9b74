import type { PathStep } from '../../domain/workflow/reference.ts'
import type { SimBlock, SimDocument, SimEdge, SimTool } from '../sim-document.ts'
import type { SimValues } from './sim-values.ts'

/**
 * The input of the mapper of one block type. A mapper copies texts as they are: references to other blocks are
 * translated afterwards, in every text of the parameters.
 */
export type BlockToMap = {
  block: SimBlock
  /** The sub-blocks. What a mapper does not take is kept with the block, and the report says so. */
  values: SimValues
  document: SimDocument
}

/** The result for a block: one of our blocks, or a placeholder. */
export type Mapping = MappedBlock | Placeholder

/** The block becomes one of ours, with the same ID, name and position. */
export type MappedBlock = {
  type: string
  params: Record<string, unknown>
  /** Blocks that follow, each connected to the one before. Edges leave the last one. */
  then?: readonly FollowingBlock[]
  /** Our handle for an edge that leaves the block. The handle of the edge, or else `source`, if this is absent. */
  handle?(edge: SimEdge): string
  /**
   * Where the value behind a path of the original's outputs is now: a path of our outputs. `undefined` if there is no
   * such value. The same path if this is absent.
   */
  output?(path: readonly PathStep[]): readonly PathStep[] | undefined
  credentials?: readonly WantedCredential[]
  /** Whole sentences about what differs from before. The report names the block in front of them. */
  notes?: readonly string[]
  /** Values for the export that have no place in `params`, such as the ID of a condition's last branch. */
  kept?: Readonly<Record<string, unknown>>
  /** Parts that cannot be part of our block, such as tools of an agent. Each becomes a placeholder block beside it. */
  beside?: readonly PlaceholderBeside[]
}

/** `suffix`: makes the ID from that of the first block. `leaves`: the handle at which the next block is connected. */
export type FollowingBlock = {
  suffix: string
  name: string
  type: string
  params: Record<string, unknown>
  leaves?: string
}

/** `suffix`: as above. `values`: say where the export puts the part. `leaves`: the handle that leads to it, if any. */
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

/** The result for a tool of an agent. A tool that cannot be one becomes a placeholder block beside the agent. */
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
