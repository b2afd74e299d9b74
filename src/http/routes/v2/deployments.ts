import { Elysia } from 'elysia'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import { findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readOptionalShape } from '../../requests/body.ts'
import { triggerFacts } from '../../responses/trigger-facts.ts'
import {
  DeployedV2,
  DeploymentStateV2,
  NewVersionTextsV2,
  RollbackV2,
  stateV2,
  UndeployedV2,
} from '../../responses/v2/deployment-schemas.ts'
import { dataOf } from '../../responses/v2/envelope.ts'
import type { Services } from '../../services.ts'
import {
  type Deployed,
  deployDraft,
  needsRedeployment,
  rollBack,
  undeployWorkflow,
} from '../workflow/deploy-workflow.ts'

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const

/** The deployment of a workflow in Sim's shapes. */
export function deploymentRoutesV2(services: Services, door: Door) {
  const { store, settings } = services
  return new Elysia({ prefix: '/api/v2/workflows/:id' })
    .get(
      '/deployment',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const row = await findWorkflow(services, key, id, 'read')
        const active = row.activeVersion === null ? undefined : await store.getDeployment(id, row.activeVersion)
        const check = active && (await services.checkWorkflow(active.document, row.workspaceId))
        const url = check && triggerFacts(check, settings).webhookUrl
        return {
          data: {
            ...stateV2(id, active && { version: active.version, at: row.deployedAt ?? active.createdAt }, check),
            needsRedeployment: await needsRedeployment(services, row, active),
            isPublicApi: false as const,
            webhooks: url === undefined ? [] : [{ blockId: null, provider: null, url }],
          },
        }
      },
      routeV2({
        name: 'getDeploymentV2',
        summary: 'Get the deployment of a workflow',
        responses: { 200: dataOf(DeploymentStateV2) },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/deploy',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const row = await ownWorkflow(key, id, context.request)
        const texts = await readOptionalShape(context.request, NewVersionTextsV2, settings.body)
        return deployedResponse(id, await deployDraft(services, row, key.userId, texts))
      },
      routeV2({
        name: 'deployWorkflowV2',
        summary: 'Deploy a workflow',
        description: 'Copies the draft to a new version and makes it the active one. The body may be empty.',
        body: NewVersionTextsV2,
        isBodyOptional: true,
        responses: { 200: dataOf(DeployedV2) },
        errors: inBody,
      }),
    )
    .delete(
      '/deploy',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        await ownWorkflow(key, id, context.request)
        await undeployWorkflow(services, id)
        return { data: { ...stateV2(id, undefined, undefined), archivedMcpTools: [] } }
      },
      routeV2({
        name: 'undeployWorkflowV2',
        summary: 'Undeploy a workflow',
        responses: { 200: dataOf(UndeployedV2) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '/rollback',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const row = await ownWorkflow(key, id, context.request)
        const { version } = await readOptionalShape(context.request, RollbackV2, settings.body)
        return deployedResponse(id, await rollBack(services, row, version))
      },
      routeV2({
        name: 'rollBackWorkflowV2',
        summary: 'Make an earlier version the active one',
        description: 'The body may be empty.',
        body: RollbackV2,
        isBodyOptional: true,
        responses: { 200: dataOf(DeployedV2) },
        errors: inBody,
      }),
    )

  async function ownWorkflow(
    key: Parameters<typeof findWorkflow>[1],
    id: string,
    request: Request,
  ): Promise<WorkflowRow> {
    door.note(request, { workflowId: id })
    return await findWorkflow(services, key, id, 'write')
  }
}

function deployedResponse(id: string, deployed: Deployed) {
  return { data: { ...stateV2(id, deployed, deployed.check), version: deployed.version } }
}
