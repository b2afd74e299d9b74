import { AppError } from '../domain/errors.ts'
import { type ListMcpTools, type McpClient, McpError, type McpTool } from '../domain/mcp-server.ts'
import type { RequestAuthorization } from '../domain/outbound-request.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import type { InSlices } from '../domain/slices.ts'

type Options = {
  mcp: McpClient
  inSlices: InSlices
  credentialFor(workspaceId: string, name: string): Promise<RequestAuthorization | undefined>
  redactorOf(workspaceId: string): Promise<Redactor | undefined>
}

/**
 * Lists the tools of an MCP server for people who edit a workflow. A server may repeat secrets in its tools and errors,
 * so these are redacted. Throws CONFLICT with the reason when it fails.
 */
export function mcpToolsOf({ mcp, inSlices, credentialFor, redactorOf }: Options): ListMcpTools {
  return async ({ workspaceId, server, credential, isFresh, signal }) => {
    const redactor = await redactorOf(workspaceId)
    const authorization = async () => {
      if (credential === '') return undefined
      const found = await credentialFor(workspaceId, credential)
      if (found) return found
      throw new AppError('CONFLICT', `The workspace has no credential "${credential}".`)
    }
    const open: McpClient['open'] = (request) => mcp.open({ ...request, redactor })
    const access = { url: server, workspaceId, credential, authorization, open, inSlices, signal }
    try {
      const tools = await mcp.connect(access).tools({ timeoutMs, fresh: isFresh })
      // The credential may have become known to the redactor only now.
      return await redactedTools(tools, await redactorOf(workspaceId), inSlices)
    } catch (error) {
      if (!(error instanceof McpError)) throw error
      throw new AppError('CONFLICT', redactText(error.message, await redactorOf(workspaceId)))
    }
  }
}

const timeoutMs = 20_000

async function redactedTools(
  tools: readonly McpTool[],
  redactor: Redactor | undefined,
  inSlices: InSlices,
): Promise<readonly McpTool[]> {
  if (!redactor) return tools
  const text = JSON.stringify(tools)
  const redacted = await inSlices(redactor.redactInSlices(text))
  if (redacted === text) return tools
  const shown: unknown = JSON.parse(redacted)
  if (Array.isArray(shown)) return shown as McpTool[]
  // The redactor replaces the whole text when hiding each secret would take too long.
  throw new AppError('CONFLICT', 'The tools of this MCP server cannot be shown: they repeat secrets too often.')
}
