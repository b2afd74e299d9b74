import type { AssistantTool } from '../../../assistant/reply.ts'
import { AppError, problemsError, StartSkipped } from '../../../domain/errors.ts'
import { findValidationErrors } from '../../../domain/workflow/shape.ts'
import { assertMay, mayStillExecute } from '../../access/auth.ts'
import { toAppError } from '../../errors.ts'
import { plainSchema } from '../../openapi/plain-schema.ts'
import { buildingTools } from '../mcp/tools/building-tools.ts'
import type { Edit } from '../mcp/tools/document-edits.ts'
import type { BuildingTool, ToolContext } from '../mcp/tools/tool.ts'
import type { DraftCopy } from './draft-copy.ts'

type Given = Record<string, unknown>

/**
 * The building tools that read, and `edit_workflow`. Tools with effects outside the canvas are left out: people run,
 * save and deploy.
 */
const offered: ReadonlySet<string> = new Set([
  ...['list_workflows', 'get_workflow', 'edit_workflow', 'check_workflow', 'list_credentials'],
  ...['list_blocks', 'describe_block', 'list_connectors', 'describe_operation', 'list_runs', 'list_failed', 'get_run'],
])

/** Tools of MCP, with the role of the caller. Those on the open workflow use the copy of its draft. */
export function assistantTools(context: ToolContext, open: { workflowId: string; copy: DraftCopy }): AssistantTool[] {
  return buildingTools
    .filter(({ name }) => offered.has(name))
    .map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: plainSchema(tool.input, {}),
      subject: subjectOf,
      run: async (given) => {
        try {
          return JSON.stringify(await runTool(tool, context, open, given))
        } catch (thrown) {
          // A bug keeps its cause, which is logged.
          const error = thrown instanceof StartSkipped ? undefined : toAppError(thrown)
          throw error === undefined || error.code === 'INTERNAL' ? thrown : error
        }
      },
    }))
}

async function runTool(
  tool: BuildingTool,
  context: ToolContext,
  { workflowId, copy }: { workflowId: string; copy: DraftCopy },
  given: Given,
): Promise<unknown> {
  const { services, caller, workspaceId } = context
  assertMay(caller, workspaceId, tool.needs, 'workspace')
  if (!(await mayStillExecute(services, caller.userId, workspaceId))) {
    throw new AppError('FORBIDDEN', 'The account may no longer edit this workspace.')
  }
  const problems = findValidationErrors(tool.input, given)
  if (problems.length > 0) throw problemsError('INVALID_INPUT', tool.explain?.(given, problems) ?? problems)
  const isOpen = given['workflowId'] === workflowId
  if (tool.name === 'edit_workflow' && !isOpen) {
    const message = `Only the open workflow can be edited here. Its ID is ${workflowId}.`
    throw new AppError('INVALID_INPUT', message)
  }
  const own = isOpen ? ofOpenWorkflow[tool.name] : undefined
  const run = () => (own ? own(copy, given) : tool.run(context, given))
  return tool.hasDocument ? await context.inTurn(run) : await run()
}

/** The tools on the open workflow, which is not saved. */
const ofOpenWorkflow: Readonly<Record<string, (copy: DraftCopy, given: Given) => Promise<unknown>>> = {
  async get_workflow(copy, { blockIds }) {
    const { blocks, ...rest } = copy.document
    const wanted = Array.isArray(blockIds) ? new Set<unknown>(blockIds) : undefined
    const shown = Object.entries(blocks).filter(([id]) => wanted === undefined || wanted.has(id))
    return { ...rest, blocks: Object.fromEntries(shown) }
  },
  async edit_workflow(copy, { edits }) {
    await copy.edit(edits as readonly Edit[])
    return { findings: await copy.check() }
  },
  async check_workflow(copy) {
    const findings = await copy.check()
    return { isDeployable: !findings.some(({ level }) => level === 'error'), findings }
  },
}

/** The argument that is most useful to people. */
function subjectOf(given: Given): string {
  const { edits } = given
  if (Array.isArray(edits)) return edits.length === 1 ? '1 edit' : `${edits.length} edits`
  const named = ['operation', 'connector', 'type', 'executionId', 'search'].map((name) => given[name])
  const text = named.find((value) => typeof value === 'string')
  return typeof text === 'string' ? text.slice(0, 100) : ''
}
