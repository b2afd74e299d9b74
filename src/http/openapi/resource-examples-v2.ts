import { folderIdOf } from '../../domain/workflow/folders.ts'
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

const deployed = {
  ...{ id, isDeployed: true, deployedAt, warnings: [] },
  activeDeployment: { deploymentVersionId: `${id}:2`, version: 2, deployedAt },
  latestDeploymentAttempt: null,
}
const undeployed = { ...deployed, isDeployed: false, deployedAt: null, activeDeployment: null }
const texts = { name: 'With a token', description: null }
const version = { id: `${id}:2`, version: 2, ...texts, isActive: true, createdAt: deployedAt }
const rate = { limit: 600, remaining: 588, resetAt: '2025-06-01T12:01:00.000Z' }
const limits = {
  workflowExecutionRateLimit: { sync: rate, async: rate },
  usage: { currentPeriodCost: 0, limit: 100, plan: 'enterprise', isExceeded: false },
}
const {
  webUrl: _webUrl,
  folderPath: _folderPath,
  ...factsV1
} = {
  ...workflow,
  ...{ color: '#6b7280', folderId: folderIdOf('samples/http') },
}
const inputs = [{ name: 'city', type: 'string', description: 'Where?' }]
const deployedV1 = { data: { id, isDeployed: true, deployedAt, version: 2, warnings: [] }, limits }

const folder = {
  ...{ name: 'http', path: '/samples/http', parentPath: '/samples' },
  ...{ createdAt: savedAt, updatedAt: savedAt, locked: false },
}
const secret = {
  ...{ name: 'WEATHER_TOKEN', scope: 'workspace', description: null, unredacted: false, role: 'admin' },
  ...{ createdAt: savedAt, updatedAt: savedAt },
}
const credential = {
  ...{ id: '0f8c2d4e-1b3a-4c5d-8e9f-a0b1c2d3e4f5', type: 'service_account', displayName: 'weather', description: null },
  ...{ providerId: 'bearer', accountId: null, hasServiceAccountKey: true, role: 'admin' },
  ...{ createdAt: savedAt, updatedAt: savedAt },
}

const state = {
  blocks: { start: { id: 'start', type: 'start_trigger', name: 'Start', position: { x: 0, y: 0 }, subBlocks: {} } },
  ...{ edges: [], loops: {}, parallels: {}, variables: {} },
}
const exported = { version: '1.0', exportedAt: deployedAt, state }
const named = { id, name: 'Weather', description: 'Says how warm it is.', workspaceId }

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
      200: { data: { ...workflow, variables: {}, inputs } },
    },
  },
  changeWorkflowV2: { request: { name: 'Weather' }, responses: { 200: { data: workflow } } },
  moveWorkflowsV2: {
    request: { workspaceId, workflowIds: [id], folderPath: '/samples/http' },
    responses: { 200: { data: { moved: [id], failed: [], folderPath: '/samples/http' } } },
  },
  deleteWorkflowV2: { responses: { 200: { data: { id, deleted: true, archived: true } } } },
  getDeploymentV2: {
    responses: { 200: { data: { ...deployed, needsRedeployment: false, isPublicApi: false, webhooks: [] } } },
  },
  deployWorkflowV2: { request: { name: 'With a token' }, responses: { 200: { data: { ...deployed, version: 2 } } } },
  undeployWorkflowV2: { responses: { 200: { data: { ...undeployed, archivedMcpTools: [] } } } },
  rollBackWorkflowV2: { request: { version: 2 }, responses: { 200: { data: { ...deployed, version: 2 } } } },
  listVersionsV2: {
    responses: {
      200: { data: [{ ...version, deployedBy: 'ada@example.com', latestOperationStatus: null }], nextCursor: null },
    },
  },
  getVersionV2: {
    responses: { 200: { data: { ...version, state } } },
  },
  describeVersionV2: { request: texts, responses: { 200: { data: { version: 2, ...texts } } } },
  activateVersionV2: { responses: { 200: { data: { ...deployed, version: 2 } } } },
  revertToVersionV2: { responses: { 200: { data: { id, version: 2, lastSaved: 1_748_770_200_000 } } } },

  listFoldersV2: { responses: { 200: { data: [folder], nextCursor: null } } },
  moveFolderV2: {
    request: { workspaceId, path: '/http', destinationPath: '/samples/http' },
    responses: { 200: { data: folder } },
  },
  listSecretsV2: { responses: { 200: { data: [secret], nextCursor: null } } },
  setSecretV2: {
    request: { workspaceId, scope: 'workspace', value: 'a secret', unredacted: false },
    responses: { 200: { data: secret } },
  },
  deleteSecretV2: { responses: { 200: { data: { name: 'WEATHER_TOKEN', scope: 'workspace', deleted: true } } } },
  listCredentialsV2: { responses: { 200: { data: [credential], nextCursor: null } } },

  exportWorkflowV2: {
    responses: { 200: { data: { ...exported, workflow: { ...named, folderPath: '/samples/http' } } } },
  },
  getWorkflowStateV2: { responses: { 200: { data: state } } },
  importWorkflowV2: {
    request: { workspaceId, workflow: { version: '1.0', state }, folderPath: '/samples/http' },
    responses: {
      201: {
        data: {
          ...{ ...named, folderPath: '/samples/http', createdAt: savedAt, updatedAt: savedAt },
          ...{ blocks: [{ id: 'start', type: 'api_trigger', name: 'Start' }], warnings: [] },
        },
      },
    },
  },
  exportWorkflowV1: { responses: { 200: { data: { ...exported, workflow: { ...named, folderId: null } }, limits } } },
  importWorkflowV1: {
    request: { workspaceId, workflow: { version: '1.0', state }, name: 'Weather' },
    responses: { 201: { data: { ...named, folderId: null, createdAt: savedAt, updatedAt: savedAt }, limits } },
  },

  listWorkflowsV1: { responses: { 200: { data: [factsV1], nextCursor: null, limits } } },
  getWorkflowV1: { responses: { 200: { data: { ...factsV1, variables: {}, inputs }, limits } } },
  deployWorkflowV1: { request: { name: 'With a token' }, responses: { 200: deployedV1 } },
  undeployWorkflowV1: {
    responses: { 200: { data: { id, isDeployed: false, deployedAt: null, warnings: [] }, limits } },
  },
  rollBackWorkflowV1: { request: { version: 2 }, responses: { 200: deployedV1 } },
}
