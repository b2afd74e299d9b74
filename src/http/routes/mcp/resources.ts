import { AppError } from '../../../domain/errors.ts'
import { textIn } from '../../responses/interface-files.ts'
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
const markdownType = 'text/markdown'

/** The most workflows of a list. Others are read by their address. */
const listedMax = 500

const docs = 'millrace://docs/'

export async function listResources({ services, workspaceId }: ToolContext): Promise<object> {
  const rows = await services.store.listWorkflows(workspaceId)
  const resources = rows.slice(0, listedMax).map(({ id, document: { name, description = '' } }) => {
    return { uri: `${workflows}${id}`, name, description: description || 'The draft of a workflow.', mimeType }
  })
  const pages = Object.keys(await services.interfaceFiles()).flatMap((path) => pageIn(path) ?? [])
  const shown = pages.map((page) => {
    return { uri: docs + page, name: page, description: 'A page of the documentation.', mimeType: markdownType }
  })
  return { resources: [...resources, ...shown] }
}

/** The name of a page of the documentation, from the path of its Markdown. */
function pageIn(path: string): string | undefined {
  return /^\/docs\/([a-z0-9-]+)\.md$/.exec(path)?.[1]
}

export function listTemplates(): object {
  return {
    resourceTemplates: [
      { uriTemplate: `${workflows}{workflowId}`, name: 'workflow', description: 'The draft of a workflow.', mimeType },
      {
        ...{ uriTemplate: `${runs}{executionId}`, name: 'run', mimeType },
        description: 'A run from the log: its output, its error, and what each block did.',
      },
      {
        ...{ uriTemplate: `${docs}{page}`, name: 'documentation', mimeType: markdownType },
        description: 'A page of the documentation, such as "blocks", "concepts" or "triggers".',
      },
    ],
  }
}

export async function readResource(context: ToolContext, uri: unknown): Promise<object> {
  if (typeof uri === 'string' && uri.startsWith(docs)) return await readPage(context, uri)
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

async function readPage({ services }: ToolContext, uri: string): Promise<object> {
  const files = await services.interfaceFiles()
  const path = `/docs/${uri.slice(docs.length)}.md`
  const file = pageIn(path) !== undefined && Object.hasOwn(files, path) ? files[path] : undefined
  if (!file) throw missing('There is no such page of the documentation. resources/list lists the pages.')
  return { contents: [{ uri, mimeType: markdownType, text: await textIn(file) }] }
}

function toolOf(name: string): BuildingTool {
  return [...workflowTools, ...runTools].find((tool) => tool.name === name)!
}

function missing(message: string): RpcError {
  return new RpcError(rpcCodes.resourceNotFound, message)
}
