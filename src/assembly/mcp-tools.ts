import { AppError } from '../domain/errors.ts'
import { type ListMcpTools, type McpClient, McpError } from '../domain/mcp-server.ts'
import type { RequestAuthorization } from '../domain/outbound-request.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import type { InSlices } from '../domain/slices.ts'

type Options = {
  mcp: McpClient
  inSlices: InSlices
  credentialFor(workspaceId: string, name: string): Promise<RequestAuthorization | undefined>
  redactorOf(workspaceId: string): Promise<Redactor | undefined>
}

/** Lists the tools of an MCP server for people who edit a workflow. Throws CONFLICT with the reason when that fails. */
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
      return await mcp.connect(access).tools({ timeoutMs, fresh: isFresh })
    } catch (error) {
      if (!(error instanceof McpError)) throw error
      // A server may repeat secrets in its errors.
      // The credential may have become known to the redactor only now.
      throw new AppError('CONFLICT', redactText(error.message, await redactorOf(workspaceId)))
    }
  }
}

const timeoutMs = 20_000
