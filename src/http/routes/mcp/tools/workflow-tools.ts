import { Type as t } from '@sinclair/typebox'
import { AppError } from '../../../../domain/errors.ts'
import { findWorkflow } from '../../../access/auth.ts'
import { etagOf } from '../../../requests/revision.ts'
import { boundedFindings } from '../../../responses/findings.ts'
import { isoTime } from '../../../responses/schema-parts.ts'
import { workflowResponse } from '../../../responses/workflow-response.ts'
import { applyEdits, Edit, editsMax, explainEdits } from './document-edits.ts'
import { type BuildingTool, defineTool } from './tool.ts'

const closed = { additionalProperties: false }
export const workflowId = t.String({ minLength: 1, maxLength: 100, description: 'list_workflows shows the IDs.' })

const listWorkflows = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'Lists the workflows of the workspace, without their blocks.',
  needs: 'read',
  input: t.Object({}, closed),
  async run({ services, workspaceId }) {
    const rows = await services.store.listWorkflows(workspaceId)
    return {
      workflows: rows.map(({ id, document, activeVersion, updatedAt }) => ({
        ...{ id, name: document.name, description: document.description ?? null, folder: document.folder ?? null },
        ...{ isDeployed: activeVersion !== null, version: activeVersion, updatedAt: isoTime(updatedAt) },
        isTool: document.mcp?.expose === true,
      })),
    }
  },
})

const getWorkflow = defineTool({
  name: 'get_workflow',
  title: 'Read a workflow',
  description:
    'Returns the draft of a workflow: its blocks by ID, and its connections in "edges". Secrets are shown as "***". ' +
    'With "blockIds", returns only these blocks.',
  needs: 'read',
  hasDocument: true,
  input: t.Object(
    { workflowId, blockIds: t.Optional(t.Array(t.String({ maxLength: 200 }), { maxItems: 200 })) },
    closed,
  ),
  async run({ services, caller }, { workflowId: id, blockIds }) {
    const row = await findWorkflow(services, caller, id, 'read')
    const { activeVersion } = row
    const { blocks, ...rest } = await workflowResponse(services, row, false)
    const wanted = blockIds && new Set(blockIds)
    const shown = wanted ? Object.fromEntries(Object.entries(blocks).filter(([each]) => wanted.has(each))) : blocks
    return { ...rest, blocks: shown, isDeployed: activeVersion !== null, version: activeVersion }
  },
})

const createWorkflow = defineTool({
  name: 'create_workflow',
  title: 'Create a workflow',
  description:
    'Creates an empty draft, or one with the blocks and edges of "document". "findings" lists what prevents a ' +
    'deployment. Add blocks with edit_workflow, and begin with a trigger such as api_trigger.',
  needs: 'write',
  hasDocument: true,
  input: t.Object(
    {
      name: t.String({ minLength: 1, maxLength: 200 }),
      description: t.Optional(t.String({ maxLength: 10_000 })),
      document: t.Optional(
        t.Record(t.String(), t.Unknown(), { description: 'A workflow document, as get_workflow returns it.' }),
      ),
    },
    closed,
  ),
  async run({ api, workspaceId }, { name, description, document = {} }) {
    const { workspaceId: _, id: _id, webhooks: _webhooks, ...given } = document
    const texts = { name, ...(description !== undefined && { description }) }
    const body = { blocks: {}, edges: [], ...given, ...texts, workspaceId }
    return savedFacts(await api('POST', '/api/workflows', { body }))
  },
})

const editWorkflow = defineTool({
  name: 'edit_workflow',
  title: 'Edit a workflow',
  description:
    'Changes the draft of a workflow by a list of small edits, which are applied in order, all or none. Edits: ' +
    '{"op":"add_block","block":{"id","type","name","params"},"after":"id of the block before it"}; ' +
    '{"op":"set","path":["blocks","greet","params","code"],"value":…} (a list is set as a whole; ' +
    '["mcp"] with {"expose":true} makes the deployed workflow a tool); {"op":"remove","path":["blocks","greet"]}; ' +
    '{"op":"rename_block","id","name"} (references follow); {"op":"connect","source","target","sourceHandle"}; ' +
    '{"op":"disconnect", …}. "findings" lists what prevents a deployment: correct it with further edits.',
  needs: 'write',
  hasDocument: true,
  input: t.Object(
    {
      workflowId,
      edits: t.Array(Edit, { minItems: 1, maxItems: editsMax }),
      revision: t.Optional(
        t.Integer({ minimum: 0, description: 'Fails when the draft has another revision, because someone saved it.' }),
      ),
    },
    closed,
  ),
  explain: ({ edits }, problems) => explainEdits(edits, problems),
  async run({ services, caller, api }, { workflowId: id, edits, revision }) {
    const row = await findWorkflow(services, caller, id, 'write')
    if (revision !== undefined && revision !== row.revision) {
      const message = `The draft has revision ${row.revision}, not ${revision}. Read it again with get_workflow.`
      throw new AppError('CONFLICT', message)
    }
    // Secrets that nobody edited stay `***`, which keeps the stored value.
    const shown = await services.secrets.shown(row.document, row.workspaceId, false)
    const body = await services.inSlices(applyEdits(shown, edits))
    const headers = { 'if-match': etagOf(row) }
    return savedFacts(await api('PUT', `/api/workflows/${encodeURIComponent(row.id)}`, { body, headers }))
  },
})

const checkWorkflow = defineTool({
  name: 'check_workflow',
  title: 'Check a workflow',
  description:
    'Returns what would prevent a deployment of the draft (level "error") and what is probably wrong ("warning"), with ' +
    'the place in the document.',
  needs: 'read',
  hasDocument: true,
  input: t.Object({ workflowId }, closed),
  async run({ services, caller }, { workflowId: id }) {
    const row = await findWorkflow(services, caller, id, 'read')
    const { findings } = await services.checkWorkflow(row.document, row.workspaceId)
    const isDeployable = !findings.some(({ level }) => level === 'error')
    return { isDeployable, revision: row.revision, findings: boundedFindings(findings) }
  },
})

const deployWorkflow = defineTool({
  name: 'deploy_workflow',
  title: 'Deploy a workflow',
  description:
    'Makes the draft the active version, which API calls, schedules, webhooks and tools run from then on. Test the ' +
    'draft with run_draft first. Fails with the findings when the draft has errors.',
  needs: 'write',
  hasDocument: true,
  input: t.Object({ workflowId, name: t.Optional(t.String({ maxLength: 200 })) }, closed),
  async run({ services, caller, api }, { workflowId: id, name }) {
    const row = await findWorkflow(services, caller, id, 'write')
    const body = name === undefined ? {} : { name }
    const deployed = await api('POST', `/api/workflows/${encodeURIComponent(row.id)}/deploy`, { body })
    return { workflowId: row.id, ...deployed, executeUrl: `/api/workflows/${row.id}/execute` }
  },
})

const listCredentials = defineTool({
  name: 'list_credentials',
  title: 'List credentials',
  description:
    'Lists the names of the credentials of the workspace, their kinds, and the hosts they may be sent to. Blocks name ' +
    'one in the parameter "credential". People create credentials in the dashboard.',
  needs: 'read',
  input: t.Object({}, closed),
  async run({ services, workspaceId }) {
    const listed = await services.credentials.list(workspaceId)
    return { credentials: listed.map(({ row: { name, kind, hosts } }) => ({ name, kind, hosts })) }
  },
})

function savedFacts({ id, name, revision, findings }: Record<string, unknown>): object {
  return { workflowId: id, name, revision, findings }
}

export const workflowTools: readonly BuildingTool[] = [
  ...[listWorkflows, getWorkflow, createWorkflow, editWorkflow, checkWorkflow, deployWorkflow, listCredentials],
]
