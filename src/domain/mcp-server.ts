import type { OutboundOpen, RequestAuthorization } from './outbound-request.ts'
import type { InSlices } from './slices.ts'

/** The shapes of tools on MCP servers, and of their results. `mcp/` lists and calls them. */

/** `parameters`: the JSON schema of an object. */
export type McpTool = { name: string; description: string; parameters: Record<string, unknown> }

/** A part of a result as the server sent it, such as `{ type: 'text', text }`. */
export type McpContent = Record<string, unknown> & { type: string }

/** `structured`: null if the tool has no structured result. `isError`: the tool says that it failed. */
export type McpResult = { content: McpContent[]; structured: unknown; isError: boolean }

/** `timeoutMs`: the time limit for the call, including the steps before it. */
export type McpToolCall = { tool: string; arguments: Record<string, unknown>; timeoutMs: number }

/** A server, reached with a credential. Rejects with `McpError`. */
export interface McpServer {
  /** `fresh`: asks the server even if its tools are known. */
  tools(options: { timeoutMs: number; fresh?: boolean }): Promise<readonly McpTool[]>
  call(call: McpToolCall): Promise<McpResult>
}

/** The address of a server, and the access to it. `url` and `credential` identify the session of a workspace. */
export type McpAccess = {
  url: string
  workspaceId: string
  /** The name of a credential; empty for none. */
  credential: string
  /** The block that sends the request; absent when a person does. */
  blockName?: string
  /** Resolves with a new authorization for each request; undefined for none. */
  authorization(): Promise<RequestAuthorization | undefined>
  open: OutboundOpen
  inSlices: InSlices
  signal: AbortSignal
}

export type ConnectMcp = (access: McpAccess) => McpServer

/** Reaches servers by requests whose responses are read while they arrive. */
export type McpClient = { open: OutboundOpen; connect: ConnectMcp }

/** Lists the tools of a server for people who edit a workflow. `isFresh`: asks the server even if they are known. */
export type ListMcpTools = (question: {
  workspaceId: string
  server: string
  credential: string
  isFresh: boolean
  signal: AbortSignal
}) => Promise<readonly McpTool[]>

/** Why a server could not be used. `code`: one of `OutboundFailureCode`, `HTTP_ERROR`, or `MCP_ERROR`. */
export class McpError extends Error {
  readonly code: string
  /** The status of the response, if there is one. */
  readonly status: number | undefined

  constructor(code: string, message: string, status?: number) {
    super(message)
    this.name = 'McpError'
    this.code = code
    this.status = status
  }
}
