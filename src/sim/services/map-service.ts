import type { BlockToMap, Mapping, ToolMapping } from '../import/mapping.ts'
import type { SimBlock, SimTool } from '../sim-document.ts'

/** Maps a block of a service, and a trigger of one. Undefined for types that this does not know. */
export function mapService(_input: BlockToMap): Mapping | undefined {
  return undefined
}

/** Maps a tool of an agent that calls a service. Undefined for types that this does not know. */
export function mapServiceTool(_tool: SimTool, _agent: SimBlock): ToolMapping | undefined {
  return undefined
}
