import { isObject } from '../../domain/run/input.ts'
import type { Block } from '../../domain/workflow/workflow.ts'
import { objectOf } from '../sim-document.ts'

/**
 * The tools of an agent in their original order, including tools that are placeholders here. Skips tools that Sim does
 * not have: the sub-block `millrace` has them.
 */
export function simToolsOf(agent: Block, placeholders: readonly Block[]): { tools?: unknown[] } {
  const { tools } = agent.params ?? {}
  const settings = agent.origin?.values?.['toolSettings']
  const before = (Array.isArray(settings) ? settings : []).filter(isObject)
  const placed: { index: number; tool: unknown }[] = placeholders.map(({ params, origin }) => ({
    index: Number(origin?.values?.['index'] ?? 0),
    tool: params?.['original'],
  }))
  for (const [position, tool] of (Array.isArray(tools) ? tools : []).filter(isObject).entries()) {
    const { index = position, ...known } = before[position] ?? {}
    const form = toolOf(tool, known)
    if (form) placed.push({ index: Number(index), tool: form })
  }
  if (placed.length === 0) return {}
  return { tools: placed.toSorted((a, b) => a.index - b.index).map(({ tool }) => tool) }
}

function toolOf(tool: Record<string, unknown>, known: Record<string, unknown>): Record<string, unknown> | undefined {
  const { type, name, description } = tool
  const kept = objectOf(known['params'])
  const isNew = known['type'] === undefined
  if (type === 'workflow') {
    const { workflowId } = tool
    return {
      ...(isNew ? { type: 'workflow_input', title: name, toolId: 'workflow_executor', usageControl: 'auto' } : known),
      params: { ...kept, workflowId, ...(description === undefined ? {} : { description }) },
    }
  }
  if (type !== 'api') return undefined
  const request = Object.entries(objectOf(tool['params'])).filter(([, value]) => {
    return !(typeof value === 'string' && value.startsWith('<args.'))
  })
  const { retries: _, bodyType: __, timeoutMs, ...params } = Object.fromEntries(request)
  return {
    ...(isNew ? { type: 'api', title: name, toolId: 'http_request', usageControl: 'auto', description } : known),
    params: { ...kept, ...params, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) },
  }
}
