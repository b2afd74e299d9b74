import { type Static, Type as t } from '@sinclair/typebox'
import { versionIdOf } from '../../../domain/run/v2/log-entry-v2.ts'
import type { Finding } from '../../../domain/workflow/workflow.ts'
import type { DeploymentRow } from '../../../store/workflow-store.ts'
import type { WorkflowCheck } from '../../services.ts'
import { boundedFindings } from '../findings.ts'
import { isoTime, maybe, Time } from '../schema-parts.ts'
import { SimState } from './transfer-schemas.ts'

const versionId = t.String({ description: 'The ID of the version.' })

const facts = {
  id: t.String({ description: 'The ID of the workflow.' }),
  isDeployed: t.Boolean(),
  deployedAt: maybe(Time),
  warnings: t.Array(t.String(), { description: 'Findings that do not prevent a deployment.' }),
  activeDeployment: maybe(t.Object({ deploymentVersionId: versionId, version: t.Integer(), deployedAt: Time })),
  latestDeploymentAttempt: t.Null({ description: 'Always null: a deployment is complete when its response is sent.' }),
}

export const DeployedV2 = t.Object({ ...facts, version: t.Integer() }, { $id: 'DeployedV2' })
export const UndeployedV2 = t.Object(
  { ...facts, archivedMcpTools: t.Array(t.Unknown(), { description: 'Always empty.' }) },
  { $id: 'UndeployedV2' },
)
export const DeploymentStateV2 = t.Object(
  {
    ...facts,
    needsRedeployment: t.Boolean({ description: 'Whether the draft would run differently from the active version.' }),
    isPublicApi: t.Literal(false),
    webhooks: t.Array(t.Object({ blockId: maybe(t.String()), provider: maybe(t.String()), url: t.String() })),
  },
  { $id: 'DeploymentStateV2' },
)

const version = {
  id: versionId,
  version: t.Integer(),
  name: maybe(t.String()),
  description: maybe(t.String()),
  isActive: t.Boolean(),
  createdAt: Time,
}
export const VersionV2 = t.Object(
  {
    ...version,
    deployedBy: maybe(t.String({ description: 'The e-mail address of the account that deployed it.' })),
    latestOperationStatus: t.Null(),
  },
  { $id: 'VersionV2' },
)
export const VersionDetailV2 = t.Object({ ...version, state: SimState }, { $id: 'VersionDetailV2' })
export const VersionTextsV2 = t.Object(
  { version: version.version, name: version.name, description: version.description },
  { $id: 'VersionTextsV2' },
)
export const RevertedV2 = t.Object(
  { id: t.String(), version: t.Union([t.Integer(), t.Literal('active')]), lastSaved: t.Integer() },
  { $id: 'RevertedV2' },
)

const texts = {
  name: t.Optional(t.String({ maxLength: 200 })),
  description: t.Optional(t.Union([t.String({ maxLength: 10_000 }), t.Null()])),
}
export const NewVersionTextsV2 = t.Object(texts, { additionalProperties: false })
export const RollbackV2 = t.Object(
  {
    version: t.Optional(t.Integer({ minimum: 1, description: 'When absent: the last version before the active one.' })),
  },
  { additionalProperties: false },
)

export function stateV2(
  id: string,
  active: { version: number; at: number } | undefined,
  check: Pick<WorkflowCheck, 'findings'> | undefined,
) {
  return {
    id,
    isDeployed: active !== undefined,
    deployedAt: active ? isoTime(active.at) : null,
    warnings: boundedFindings(check?.findings ?? []).map(textOf),
    activeDeployment: active
      ? {
          deploymentVersionId: versionIdOf(id, active.version),
          version: active.version,
          deployedAt: isoTime(active.at),
        }
      : null,
    latestDeploymentAttempt: null,
  }
}

export function versionV2(row: DeploymentRow): Static<typeof VersionV2> {
  return { ...factsOf(row), deployedBy: row.author, latestOperationStatus: null }
}

export function versionDetailV2(row: DeploymentRow, state: Record<string, unknown>): Static<typeof VersionDetailV2> {
  return { ...factsOf(row), state }
}

function factsOf({ workflowId, version: number, name, description, active, createdAt }: DeploymentRow) {
  const named = { id: versionIdOf(workflowId, number), version: number, name, description }
  return { ...named, isActive: active, createdAt: isoTime(createdAt) }
}

export function textOf({ blockId, blockName, message }: Finding): string {
  return blockId === null ? message : `In block "${blockName ?? blockId}" (${blockId}): ${message}`
}
