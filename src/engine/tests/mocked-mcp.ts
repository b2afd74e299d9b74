import { type McpContent, McpError, type McpResult, type McpTool } from '../../domain/mcp-server.ts'
import { isObject } from '../../domain/run/input.ts'
import type { WorkflowTest } from '../../domain/workflow/workflow-test.ts'

type Response = NonNullable<NonNullable<WorkflowTest['mocks']>[number]['response']>

/**
 * The result of a tool on a mocked MCP server. `data` is its text, or `{ content, structured, isError }`, which the
 * outputs of an `mcp` block have too. Other data is a structured result. Throws `McpError` for a status of an error.
 */
export function mcpResult({ status, data }: Response): McpResult {
  assertSuccess(status)
  if (typeof data === 'string') return { content: [textPart(data)], structured: null, isError: false }
  if (!isWhole(data)) return { content: [textPart(JSON.stringify(data ?? null))], structured: data, isError: false }
  const { content, structured = null, isError } = data
  const parts = Array.isArray(content) ? (content as unknown[]).filter(isPart) : []
  return { content: typeof content === 'string' ? [textPart(content)] : parts, structured, isError: isError === true }
}

/** The tools in `data`, which is `{ tools: [{ name, description, parameters }] }`. Throws `McpError`. */
export function mcpTools({ status, data }: Response): McpTool[] {
  assertSuccess(status)
  const tools = isObject(data) && Array.isArray(data['tools']) ? (data['tools'] as unknown[]) : undefined
  if (!tools) {
    throw new McpError('MCP_ERROR', 'The mock of the list of tools must have "data": { "tools": [{ "name": "…" }] }.')
  }
  return tools.filter(isObject).map(({ name, description, parameters }) => ({
    name: String(name),
    description: typeof description === 'string' ? description : '',
    parameters: isObject(parameters) ? parameters : { type: 'object' },
  }))
}

function assertSuccess(status: number): void {
  if (status >= 400) throw new McpError('HTTP_ERROR', `The MCP server responded with ${status}.`, status)
}

function isWhole(data: unknown): data is { content?: unknown; structured?: unknown; isError?: unknown } {
  if (!isObject(data) || !('content' in data || 'structured' in data || 'isError' in data)) return false
  return Object.keys(data).every((name) => name === 'content' || name === 'structured' || name === 'isError')
}

function isPart(part: unknown): part is McpContent {
  return isObject(part) && typeof part['type'] === 'string'
}

function textPart(text: string): McpContent {
  return { type: 'text', text }
}
