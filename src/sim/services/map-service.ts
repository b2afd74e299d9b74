import { needsOf } from '../block-types.ts'
import type { BlockToMap, Mapping, ToolMapping } from '../import/mapping.ts'
import { SimValues } from '../import/sim-values.ts'
import type { SimBlock, SimTool } from '../sim-document.ts'
import { callOf, mapByRules } from './apply-rule.ts'
import { requestTool } from './request-tool.ts'
import { servicesByType } from './services.ts'
import { mapTrigger } from './triggers.ts'

/** Maps a block of a service, and a trigger of one. Undefined for types that this does not know. */
export function mapService(input: BlockToMap): Mapping | undefined {
  const { block, values } = input
  if (block.triggerMode) return mapTrigger(input) ?? { needs: triggerNeeds(block.type) }
  const rules = servicesByType.get(block.type)
  if (rules) return mapByRules(rules, values)
  const needs = needsOf(block.type)
  return needs === undefined ? undefined : { needs }
}

/** Maps a tool of an agent that calls a service. Undefined for types that this does not know. */
export function mapServiceTool(tool: SimTool, _agent: SimBlock): ToolMapping | undefined {
  const rules = servicesByType.get(tool.type)
  if (!rules) {
    const needs = needsOf(tool.type)
    return needs === undefined ? undefined : { needs }
  }
  const values = new SimValues(new Map(Object.entries(tool.params)))
  const call = callOf(rules, values, tool.operation)
  if ('needs' in call) return call
  const rest = values.rest()
  return {
    tool: call.type === 'operation' ? { ...call.params, type: 'operation' } : requestTool(rules, call, tool),
    credentials: call.credentials,
    notes: call.notes,
    ...(rest.length > 0 ? { kept: Object.fromEntries(rest) } : {}),
  }
}

function triggerNeeds(type: string): string {
  return (
    `a trigger for "${type.slice(0, 100)}": a webhook trigger if the service can send requests, or else a schedule ` +
    'and a block that looks for what is new'
  )
}
