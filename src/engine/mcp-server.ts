import type { McpServer } from '../domain/mcp-server.ts'
import type { OutboundOpen, OutboundRequest } from '../domain/outbound-request.ts'
import type { Span } from '../domain/run/log.ts'
import type { BlockContext } from './block.ts'
import { RunHeldMemory } from './run/held-memory.ts'
import type { Run } from './run/run.ts'
import { withTrace } from './run/trace-header.ts'

type Asking = Pick<BlockContext, 'block' | 'credential' | 'signal'>
type Wanted = { url: string; credential: string }

/** An MCP server for a block. `span`: the block's, or that of a part of it. */
export function mcpServerOf(run: Run, span: Span, context: Asking, { url, credential }: Wanted): McpServer {
  const { mcp, inSlices } = run.capabilities
  if (!mcp) throw new Error('This service has no client for MCP servers')
  const { redactor } = run.environment
  const open: OutboundOpen = (request) =>
    countedOpen(run, mcp.open, { ...request, headers: withTrace(request.headers, run, span), redactor })
  const authorization = async () => (credential === '' ? undefined : await context.credential(credential))
  const { block, signal } = context
  const { workspaceId } = run.facts
  const from = { workspaceId, blockName: block.name }
  return mcp.connect({ ...{ url, credential, open, inSlices, authorization, signal }, ...from })
}

/** Opens a response that is read while it arrives, and counts it for the run until it is closed. */
async function countedOpen(run: Run, open: OutboundOpen, request: OutboundRequest): ReturnType<OutboundOpen> {
  const memory = new RunHeldMemory(run)
  const outcome = await open({ ...request, memory })
  if (!outcome.ok) return outcome
  const { body } = outcome.response
  const close = () => {
    body.close()
    memory.end()
  }
  return { ok: true, response: { ...outcome.response, body: { read: () => body.read(), close } } }
}
