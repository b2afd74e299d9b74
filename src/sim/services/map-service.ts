import { needsOf } from '../block-types.ts'
import type { BlockToMap, Mapping, ToolMapping } from '../import/mapping.ts'
import { SimValues } from '../import/sim-values.ts'
import { objectOf, type SimBlock, type SimTool } from '../sim-document.ts'
import { callOf, mapByRules } from './apply-rule.ts'
import { valuesInMode } from './input-mode.ts'
import { keptOf } from './kept.ts'
import { requestTool } from './request-tool.ts'
import { servicesByType } from './services.ts'
import { mapTrigger } from './triggers.ts'
import { mapWebhookRequest } from './webhook-request.ts'

/** Maps a block or a trigger of a service. Undefined for unknown types. */
export function mapService(input: BlockToMap): Mapping | undefined {
  const { block } = input
  if (block.triggerMode) return mapTrigger(input) ?? { needs: triggerNeeds(block.type) }
  if (block.type === 'webhook_request') return mapWebhookRequest(input)
  const rules = servicesByType.get(block.type)
  if (rules) return mapByRules(rules, input)
  const needs = needsOf(block.type)
  return needs === undefined ? undefined : { needs }
}

/** Maps a tool of an agent that calls a service. Undefined for unknown types. */
export function mapServiceTool(tool: SimTool, agent: SimBlock): ToolMapping | undefined {
  const rules = servicesByType.get(tool.type)
  if (!rules) {
    const needs = needsOf(tool.type)
    return needs === undefined ? undefined : { needs }
  }
  const { credentialId } = tool.original
  const account = credentialId === undefined ? {} : { credential: credentialId }
  const given = new Map(Object.entries({ ...account, ...tool.params }))
  const values = new SimValues(valuesInMode(given, objectOf(agent.data['canonicalModes']), `${tool.type}:`))
  const call = callOf(rules, values, tool.operation)
  if ('needs' in call) return call
  const mapped = call.type === 'operation' ? { ...call.params, type: 'operation' } : requestTool(rules, call, tool)
  const taken = keptOf(given, values, mapped, rules.credential?.secrets ?? [])
  const rest = values.rest()
  return {
    tool: mapped,
    credentials: call.credentials,
    notes: call.notes,
    kept: { ...taken, ...Object.fromEntries(rest) },
  }
}

function triggerNeeds(type: string): string {
  return (
    `a trigger for "${type.slice(0, 100)}": a webhook trigger if the service can send requests, or else a schedule ` +
    'and a block that reads new items'
  )
}
