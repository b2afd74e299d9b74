import { estimateSize } from '../domain/estimate-size.ts'
import { McpError, type McpTool } from '../domain/mcp-server.ts'
import { isObject } from '../domain/run/input.ts'
import { schemaFaults } from '../domain/workflow/json-schema-faults.ts'
import type { Bounds } from './link.ts'
import type { McpSession } from './session.ts'

/** Tools of one server. */
const toolsMax = 500
const pagesMax = 50
const descriptionCharsMax = 4_000
const nameCharsMax = 200
/** Bytes of all tools together. */
const listBytesMax = 4_194_304

/** Reads the tools of a server, page by page. Throws `McpError`. */
export async function listTools(session: McpSession, host: string, bounds: Bounds): Promise<McpTool[]> {
  const tools = new Map<string, McpTool>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 1; ; page += 1) {
    const result = await session.request('tools/list', cursor === undefined ? {} : { cursor }, bounds)
    const listed: unknown = result['tools']
    if (!Array.isArray(listed)) throw misfit(host, 'its list of tools is not a list')
    bytes += estimateSize(listed, listBytesMax)
    if (bytes > listBytesMax) throw misfit(host, `they have more than ${listBytesMax} bytes`)
    for (const each of listed) {
      const tool = toolOf(each)
      // The first of two tools with one name is the one that the server calls.
      if (tool && !tools.has(tool.name)) tools.set(tool.name, tool)
      if (tools.size > toolsMax) throw misfit(host, `it has more than ${toolsMax} tools`)
    }
    const { nextCursor } = result
    if (typeof nextCursor !== 'string' || nextCursor === '') return [...tools.values()]
    if (nextCursor === cursor || page === pagesMax) throw misfit(host, 'its list of tools does not end')
    cursor = nextCursor
  }
}

/** Undefined for a tool that cannot be called. */
function toolOf(value: unknown): McpTool | undefined {
  if (!isObject(value)) return undefined
  const { name, title, description, inputSchema } = value
  if (typeof name !== 'string' || name === '' || name.length > nameCharsMax) return undefined
  const said = [description, title].find((text) => typeof text === 'string' && text !== '')
  // A model provider refuses all tools when one of them has a schema with an error.
  const isUsable = isObject(inputSchema) && schemaFaults(inputSchema).length === 0
  const parameters = isUsable ? inputSchema : { type: 'object' }
  return { name, description: typeof said === 'string' ? said.slice(0, descriptionCharsMax) : '', parameters }
}

function misfit(host: string, reason: string): McpError {
  return new McpError('INVALID_RESPONSE', `The tools of the MCP server ${host} cannot be used: ${reason}.`)
}
