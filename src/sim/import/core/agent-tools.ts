import { isObject } from '../../../domain/run/input.ts'
import { blockTypes } from '../../block-types.ts'
import { mapServiceTool } from '../../services/map-service.ts'
import { readSimTool, type SimBlock, type SimTool, textOf } from '../../sim-document.ts'
import { FreeTexts } from '../free-texts.ts'
import type { PlaceholderBeside, ToolMapping, WantedCredential } from '../mapping.ts'
import { parseJson, SimValues } from '../sim-values.ts'
import { apiRequestOf } from './api.ts'

type MappedTools = {
  tools: Record<string, unknown>[]
  beside: PlaceholderBeside[]
  credentials: WantedCredential[]
  notes: string[]
  kept: Record<string, unknown>
}

/** The most tools of our agent. */
const toolsMax = 100

/** Maps the tools of an agent. Tools that our agent cannot call become placeholders beside it. */
export function mapTools(values: SimValues, agent: SimBlock): MappedTools {
  const mapped: MappedTools = { tools: [], beside: [], credentials: [], notes: [], kept: {} }
  const list = values.json('tools')
  const names = new FreeTexts()
  const settings: unknown[] = []
  const all: unknown[] = Array.isArray(list) ? list : []
  if (all.length > toolsMax) {
    mapped.kept['toolsBeyond'] = all.slice(toolsMax)
    mapped.notes.push(
      `It had ${all.length} tools. An agent can have only ${toolsMax} here; the others are kept but have no effect.`,
    )
  }
  for (const [index, entry] of all.slice(0, toolsMax).entries()) {
    const tool = readSimTool(entry)
    if (!tool) continue
    const mapping = toolOf(tool, agent)
    const usage = textOf(tool.original['usageControl'])
    if ('needs' in mapping) {
      mapped.beside.push(placeholderOf(tool, index, agent, mapping.needs))
      continue
    }
    const name = freeName(textOf(mapping.tool['name']) || tool.title || tool.type, names)
    mapped.tools.push({ ...mapping.tool, name })
    mapped.credentials.push(...(mapping.credentials ?? []))
    mapped.notes.push(...(mapping.notes ?? []))
    if (usage === 'force' || usage === 'none') {
      const before = usage === 'force' ? 'had to call' : 'never called'
      mapped.notes.push(`In Sim, the model ${before} the tool "${tool.title || name}". Now the model decides.`)
    }
    const { params: _, ...others } = tool.original
    settings.push({ index, ...others, ...(mapping.kept ? { params: mapping.kept } : {}) })
  }
  if (settings.length > 0) mapped.kept['toolSettings'] = settings
  return mapped
}

function toolOf(tool: SimTool, agent: SimBlock): ToolMapping {
  switch (tool.type) {
    case 'workflow':
    case 'workflow_input':
      return workflowTool(tool)
    case 'api':
    case 'http_request':
      return apiTool(tool)
    case 'custom-tool':
      return { needs: `a workflow with the code of the custom tool "${tool.title}" in a function block, as a tool` }
    case 'mcp':
    case 'mcp-server':
      return { needs: 'a tool of the type "MCP server" with the address of the server, which Sim does not export' }
    case 'function':
      return { needs: 'a workflow with a function block, as a tool: agents cannot write and run code themselves' }
    default:
      return mapServiceTool(tool, agent) ?? { needs: needsOfTool(tool.type) }
  }
}

/** The blocks that replace some types are no tools of agents, but a workflow with such a block is one. */
function needsOfTool(type: string): string {
  const block = blockTypes.get(type)
  if (block?.to === undefined) return `a tool that does what "${type || 'unknown'}" does in Sim`
  return `a workflow with a block of the type "${block.to}", as a tool`
}

function workflowTool(tool: SimTool): ToolMapping {
  const workflowId = textOf(tool.params['workflowId'])
  if (workflowId === '') return { needs: 'the workflow that the tool calls' }
  const { workflowId: _, ...kept } = tool.params
  const description = textOf(tool.params['description']) || textOf(tool.original['description'])
  return {
    tool: { type: 'workflow', workflowId, ...(description === '' ? {} : { description }) },
    notes: [`The tool "${tool.title}" calls the workflow ${workflowId} of Sim. Choose the imported workflow instead.`],
    ...(Object.keys(kept).length > 0 ? { kept } : {}),
  }
}

/** The model fills in the URL and the body if the author left them empty. */
function apiTool(tool: SimTool): ToolMapping {
  const values = new SimValues(new Map(Object.entries(tool.params)))
  const request = apiRequestOf(values)
  const properties: Record<string, unknown> = {}
  for (const [name, description] of [
    ['url', 'The URL of the request.'],
    ['body', 'The body of the request.'],
  ] as const) {
    if (request[name] !== undefined || (name === 'body' && (request['method'] ?? 'GET') === 'GET')) continue
    properties[name] = { type: name === 'url' ? 'string' : 'object', description }
    request[name] = `<args.${name}>`
  }
  const rest = values.rest()
  const parameters = { type: 'object', properties, required: Object.keys(properties) }
  return {
    tool: { type: 'api', description: textOf(tool.original['description']) || tool.title, parameters, params: request },
    ...(rest.length > 0 ? { kept: Object.fromEntries(rest) } : {}),
  }
}

function placeholderOf(tool: SimTool, index: number, agent: SimBlock, needs: string): PlaceholderBeside {
  return {
    suffix: `tool-${index + 1}`,
    name: `${agent.name} tool ${tool.title || tool.type || index + 1}`,
    from: tool.type || 'tool',
    original: tool.original,
    needs,
    values: { part: 'tool', of: agent.id, index },
  }
}

/** A name that models accept, and that no other tool has. */
function freeName(title: string, names: FreeTexts): string {
  const plain = title
    .trim()
    .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
    .slice(0, 60)
  const base = plain || 'tool'
  return names.free(base, (number) => `${base.slice(0, 54)}_${number}`)
}

/** A list that may be written as JSON. */
export function listOf(value: unknown): unknown[] {
  const list = typeof value === 'string' ? parseJson(value) : value
  return Array.isArray(list) ? list : []
}

export function objectsOf(value: unknown): Record<string, unknown>[] {
  return listOf(value).filter(isObject)
}
