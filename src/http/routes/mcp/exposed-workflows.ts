import { forgetOldest } from '../../../domain/forget-oldest.ts'
import { exposureIn } from '../../../domain/workflow/mcp-exposure.ts'
import { hasToolTrigger, toolNameOf } from '../../../domain/workflow/tool-name.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { inputFormatOf, inputSchema } from '../../openapi/workflow-openapi.ts'
import type { Services } from '../../services.ts'

/** A deployed workflow that is a tool. */
export type WorkflowTool = {
  workflowId: string
  name: string
  title: string
  description: string
  inputSchema: Record<string, unknown>
}

/** Facts of a version, kept in memory; a version never changes. Null when it is not exposed. */
type Known = WorkflowTool | null
const knownMax = 5_000

/** The deployed workflows of workspaces that are tools. */
export class ExposedWorkflows {
  readonly #store: Pick<Services['store'], 'listActiveVersions' | 'getDeployment'>
  /** By workflow and version. */
  readonly #known = new Map<string, Known>()

  constructor(store: Pick<Services['store'], 'listActiveVersions' | 'getDeployment'>) {
    this.#store = store
  }

  /** The tools of a workspace. A name that is `taken`, or that an earlier workflow has, gets the end of the ID. */
  async list(workspaceId: string, taken: Iterable<string>): Promise<WorkflowTool[]> {
    const rows = await this.#store.listActiveVersions(workspaceId)
    const names = new Set(taken)
    const tools: WorkflowTool[] = []
    for (const { workflowId, version } of rows) {
      const tool = await this.#toolOf(workflowId, version)
      if (!tool) continue
      const name = names.has(tool.name) ? `${tool.name.slice(0, 54)}_${workflowId.slice(-9)}` : tool.name
      names.add(name)
      tools.push({ ...tool, name })
    }
    return tools
  }

  async #toolOf(workflowId: string, version: number): Promise<Known> {
    const key = `${workflowId} ${version}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const row = await this.#store.getDeployment(workflowId, version)
    const tool = row ? toolIn(workflowId, row.document) : null
    this.#known.set(key, tool)
    forgetOldest(this.#known, knownMax)
    return tool
  }
}

function toolIn(workflowId: string, document: WorkflowDocument): Known {
  const exposure = exposureIn(document)
  if (!exposure || !hasToolTrigger(document)) return null
  const { name, description } = document
  return {
    workflowId,
    name: exposure.name ?? toolNameOf(name),
    title: name,
    description: exposure.description || description || `Runs the workflow "${name}".`,
    inputSchema: inputSchema(inputFormatOf(document)),
  }
}
