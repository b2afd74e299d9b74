import { McpError } from '../../domain/mcp-server.ts'
import type { ModelTool } from '../../domain/run/model-call.ts'
import { type BlockContext, BlockError, type PartContext } from '../../engine/block.ts'
import { contentOf, textOf } from './result.ts'

/** The tools of an MCP server, as one tool of an agent. `tools`: only those with these names. */
export type McpToolset = { type: 'mcp'; server: string; credential?: string; tools?: readonly string[] }

/** One tool of a server, under the name by which the model calls it. */
export type McpAgentTool = { type: 'mcp-tool'; set: McpToolset; tool: string; description: ModelTool }

/** Tools of all servers of one agent. Model providers accept 128. */
const agentToolsMax = 128
const listTimeoutMs = 30_000
const callTimeoutMs = 60_000

/** The tools of a server. Adds their names to `taken`, which has the names of other tools. Throws `BlockError`. */
export async function toolsOf(set: McpToolset, taken: Set<string>, context: BlockContext): Promise<McpAgentTool[]> {
  const { server, credential = '', tools: chosen } = set
  const offered = await blockErrors(() => context.mcp(server, credential).tools({ timeoutMs: listTimeoutMs }))
  const host = URL.parse(server)?.hostname ?? 'mcp'
  if (chosen) assertOffered(chosen, new Set(offered.map(({ name }) => name)), host)
  const wanted = chosen ? offered.filter(({ name }) => chosen.includes(name)) : offered
  const count = taken.size + wanted.length
  if (count > agentToolsMax) {
    const message =
      `With the ${wanted.length} tools of the MCP server ${host}, the agent has ${count} tools. At most ` +
      `${agentToolsMax} are allowed. Choose fewer tools of its servers.`
    throw new BlockError('TOO_MANY_TOOLS', message)
  }
  return wanted.map(({ name, description, parameters }) => {
    const called = freeName(name, host, taken)
    taken.add(called)
    return { type: 'mcp-tool', set, tool: name, description: { name: called, description, parameters } }
  })
}

/** Calls a tool. The model receives the result. Throws `BlockError`. */
export async function callMcpTool(
  { set: { server, credential = '' }, tool }: McpAgentTool,
  args: Record<string, unknown>,
  part: PartContext,
): Promise<unknown> {
  const call = { tool, arguments: args, timeoutMs: callTimeoutMs }
  const result = await blockErrors(() => part.mcp(server, credential).call(call))
  const content = await contentOf(result, part)
  if (result.isError) throw new BlockError('TOOL_ERROR', textOf(content) || 'The tool failed, and gave no reason.')
  const isText = content.every(({ type }) => type === 'text')
  return isText ? (result.structured ?? textOf(content)) : content
}

function assertOffered(chosen: readonly string[], offered: ReadonlySet<string>, host: string): void {
  const missing = chosen.filter((name) => !offered.has(name))
  if (missing.length === 0) return
  const names = [...offered].slice(0, 20).join(', ')
  const message = `The MCP server ${host} has no tool "${missing[0]!.slice(0, 100)}". It has: ${names}.`
  throw new BlockError('UNKNOWN_TOOL', message)
}

/** A name that models accept and that no other tool has. */
function freeName(name: string, host: string, taken: ReadonlySet<string>): string {
  const plain = modelName(name)
  if (!taken.has(plain)) return plain
  const prefixed = modelName(`${host}_${name}`)
  for (let number = 2, free = prefixed; ; number += 1) {
    if (!taken.has(free)) return free
    free = `${prefixed.slice(0, 60)}_${number}`
  }
}

function modelName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

async function blockErrors<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof McpError) throw new BlockError(error.code, error.message, error)
    throw error
  }
}
