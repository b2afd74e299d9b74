import { AppError } from '../../../domain/errors.ts'
import { RpcError, rpcCodes } from './json-rpc.ts'
import { runTools } from './tools/run-tools.ts'
import type { BuildingTool, ToolContext } from './tools/tool.ts'
import { workflowTools } from './tools/workflow-tools.ts'

/** The tools for viewers that read a resource, by the beginning of its address. The rest of the address is an ID. */
const readers: readonly { prefix: string; tool: BuildingTool; given(id: string): Record<string, unknown> }[] = [
  { prefix: 'millrace://workflows/', tool: toolOf('get_workflow'), given: (workflowId) => ({ workflowId }) },
  { prefix: 'millrace://runs/', tool: toolOf('get_run'), given: (executionId) => ({ executionId }) },
]
const [workflows, runs] = readers.map(({ prefix }) => prefix)
const mimeType = 'application/json'

/** The most workflows of a list. Others are read by their address. */
const listedMax = 500

export async function listResources({ services, workspaceId }: ToolContext): Promise<object> {
  const rows = await services.store.listWorkflows(workspaceId)
  const resources = rows.slice(0, listedMax).map(({ id, document: { name, description = '' } }) => {
    return { uri: `${workflows}${id}`, name, description: description || 'The draft of a workflow.', mimeType }
  })
  return { resources }
}

export function listTemplates(): object {
  return {
    resourceTemplates: [
      { uriTemplate: `${workflows}{workflowId}`, name: 'workflow', description: 'The draft of a workflow.', mimeType },
      {
        ...{ uriTemplate: `${runs}{executionId}`, name: 'run', mimeType },
        description: 'A run from the log: its output, its error, and what each block did.',
      },
    ],
  }
}

export async function readResource(context: ToolContext, uri: unknown): Promise<object> {
  const reader = readers.find(({ prefix }) => typeof uri === 'string' && uri.startsWith(prefix))
  if (!reader || typeof uri !== 'string' || uri.length > 300) throw missing('There is no such resource.')
  try {
    const value = await reader.tool.run(context, reader.given(uri.slice(reader.prefix.length)))
    return { contents: [{ uri, mimeType, text: JSON.stringify(value) }] }
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'NOT_FOUND') throw missing(thrown.message)
    throw thrown
  }
}

function toolOf(name: string): BuildingTool {
  return [...workflowTools, ...runTools].find((tool) => tool.name === name)!
}

function missing(message: string): RpcError {
  return new RpcError(rpcCodes.resourceNotFound, message)
}
