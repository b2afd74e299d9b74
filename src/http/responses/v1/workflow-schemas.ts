import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { folderIdOf } from '../../../domain/workflow/folders.ts'
import { LimitsResponse } from '../account-schemas.ts'
import { maybe, Time } from '../schema-parts.ts'
import { WorkflowDetailV2, WorkflowV2 } from '../v2/workflow-schemas.ts'

/** Workflows of `/api/v1` in Sim's shapes. */

/** The response for one object, with the limits of the account. */
export const withLimits = <Schema extends TSchema>(data: Schema) => t.Object({ data, limits: LimitsResponse })

const { webUrl: _webUrl, folderPath: _folderPath, ...facts } = WorkflowV2.properties
const ofVersion1 = {
  color: t.String({ description: 'Always the same: workflows have no colour here.' }),
  folderId: maybe(t.String({ description: 'The ID of its folder, as `GET /api/folders` lists it.' })),
}
export const WorkflowV1 = t.Object({ ...facts, ...ofVersion1 }, { $id: 'WorkflowV1' })
const { variables, inputs } = WorkflowDetailV2.properties

export const WorkflowListV1 = t.Object({
  data: t.Array(WorkflowV1),
  nextCursor: maybe(t.String({ description: 'The `cursor` of the next page; null on the last one.' })),
  limits: LimitsResponse,
})
export const WorkflowDetailV1 = withLimits(
  t.Object({ ...facts, ...ofVersion1, variables, inputs }, { $id: 'WorkflowDetailV1' }),
)
export const DeployedV1 = withLimits(
  t.Object(
    {
      id: t.String({ description: 'The ID of the workflow.' }),
      isDeployed: t.Boolean(),
      deployedAt: maybe(Time),
      version: t.Optional(t.Integer()),
      warnings: t.Array(t.String()),
    },
    { $id: 'DeployedV1' },
  ),
)

/** `folder`: of its document. */
export function workflowV1<Facts extends Static<typeof WorkflowV2>>(shown: Facts, folder: string | null | undefined) {
  const { webUrl: _url, folderPath: _path, ...rest } = shown
  return { ...rest, color: '#6b7280', folderId: folder ? folderIdOf(folder) : null }
}
