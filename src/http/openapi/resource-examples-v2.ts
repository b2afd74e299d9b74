import type { OperationExamples } from './openapi.ts'

const workspaceId = '5a3b1d2c-7e6f-4a8b-9c0d-1e2f3a4b5c6d'
const id = 'weather'
const savedAt = '2025-06-01T09:30:00.000Z'
const deployedAt = '2025-06-01T10:00:00.000Z'

const workspace = {
  ...{ id: workspaceId, name: 'Main', color: '#6b7280', logoUrl: null, memberCount: 2 },
  ...{ createdAt: savedAt, updatedAt: savedAt },
}
const member = {
  ...{ userId: '9b2c3d4e-5f60-4718-8293-a4b5c6d7e8f9', email: 'ada@example.com', name: 'ada@example.com', image: null },
  ...{ role: 'admin', isExternal: false, joinedAt: savedAt },
}
const workflow = {
  ...{ id, webUrl: `https://millrace.example/workflows/${id}`, name: 'Weather', description: 'Says how warm it is.' },
  ...{ folderPath: '/samples/http', workspaceId, isDeployed: true, deployedAt, runCount: 12 },
  ...{ lastRunAt: '2025-06-01T12:00:00.000Z', createdAt: savedAt, updatedAt: savedAt },
}
const facts = { name: 'Weather', description: 'Says how warm it is.', folderPath: '/samples/http' }
const notDeployed = { ...workflow, isDeployed: false, deployedAt: null, runCount: 0, lastRunAt: null }

/** The resources of `/api/v2`: workspaces, workflows and what belongs to them. */
export const resourceExamples: Readonly<Record<string, OperationExamples>> = {
  getMetaV2: { responses: { 200: { data: { v2Enabled: true, keyType: 'personal', expiresAt: null } } } },
  listWorkspacesV2: { responses: { 200: { data: [workspace], nextCursor: null } } },
  getWorkspaceV2: { responses: { 200: { data: workspace } } },
  listMembersV2: { responses: { 200: { data: [member], nextCursor: null } } },
  listWorkflowsV2: { responses: { 200: { data: [workflow], nextCursor: null } } },
  createWorkflowV2: {
    request: { workspaceId, ...facts },
    responses: {
      201: { data: { ...notDeployed, blocks: [{ id: 'start', type: 'api_trigger', name: 'Start' }] } },
    },
  },
  getWorkflowV2: {
    responses: {
      200: { data: { ...workflow, variables: {}, inputs: [{ name: 'city', type: 'string', description: 'Where?' }] } },
    },
  },
  changeWorkflowV2: { request: { name: 'Weather' }, responses: { 200: { data: workflow } } },
  deleteWorkflowV2: { responses: { 200: { data: { id, deleted: true, archived: true } } } },
}
