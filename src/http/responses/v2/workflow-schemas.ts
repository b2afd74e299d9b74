import { type Static, Type as t } from '@sinclair/typebox'
import { recordOf } from '../../../domain/record-of.ts'
import { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { WorkflowOverview } from '../../../store/dashboard-store.ts'
import { inputFormatOf } from '../../openapi/workflow-openapi.ts'
import { folderPathOf } from '../../requests/folder-path.ts'
import { isoTime, maybe, Time } from '../schema-parts.ts'

/** Hours in `runCount`. */
export const runCountHours = 24

const facts = {
  id: t.String(),
  webUrl: t.String({ description: 'Its page in the dashboard.' }),
  name: t.String(),
  description: maybe(t.String()),
  folderPath: t.String({ description: 'Percent-encoded, as in `/sales/eu%20west`; `/` means no folder.' }),
  workspaceId: t.String(),
  isDeployed: t.Boolean(),
  deployedAt: maybe(Time),
  runCount: t.Integer({ description: `Recorded runs of the last ${runCountHours} hours.` }),
  lastRunAt: maybe(Time),
  createdAt: Time,
  updatedAt: Time,
}
export const WorkflowV2 = t.Object(facts, { $id: 'WorkflowV2' })
export type WorkflowV2 = Static<typeof WorkflowV2>

export const BlockName = t.Object({ id: t.String(), type: t.String(), name: t.String() })
export const CreatedWorkflowV2 = t.Object({ ...facts, blocks: t.Array(BlockName) }, { $id: 'CreatedWorkflowV2' })

export const WorkflowDetailV2 = t.Object(
  {
    ...facts,
    variables: recordOf(t.Unknown()),
    inputs: t.Array(t.Object({ name: t.String(), type: t.String(), description: t.Optional(t.String()) }), {
      description: 'The input format of the API trigger in the draft.',
    }),
  },
  { $id: 'WorkflowDetailV2' },
)

const { name } = WorkflowDocument.properties
const changes = {
  description: t.Optional(t.Union([t.String({ maxLength: 10_000 }), t.Null()])),
  folderPath: t.Optional(t.String({ maxLength: 4096, description: '`/` means no folder.' })),
}
export const NewWorkflowV2 = t.Object(
  { workspaceId: t.String(), name, ...changes },
  { $id: 'NewWorkflowV2', additionalProperties: false },
)
export const WorkflowChangeV2 = t.Object(
  { name: t.Optional(name), ...changes },
  { $id: 'WorkflowChangeV2', additionalProperties: false, description: 'Absent members stay unchanged.' },
)

export const MoveV2 = t.Object(
  {
    workspaceId: t.String(),
    workflowIds: t.Array(t.String({ maxLength: 100 }), { minItems: 1, maxItems: 100 }),
    folderPath: t.String({ maxLength: 4096, description: '`/`: to no folder.' }),
  },
  { $id: 'MoveV2', additionalProperties: false },
)
export const MovedV2 = t.Object(
  {
    moved: t.Array(t.String()),
    failed: t.Array(t.String(), { description: 'The workspace has no such workflow, or somebody saved it meanwhile.' }),
    folderPath: t.String(),
  },
  { $id: 'MovedV2' },
)

export const DeletedWorkflowV2 = t.Object({ id: t.String(), deleted: t.Literal(true), archived: t.Literal(true) })

/** `baseUrl`: of the service. */
export function workflowV2(row: WorkflowOverview, workspaceId: string, baseUrl: string): WorkflowV2 {
  const { id, deployedAt, activeVersion, lastRun, runs } = row
  return {
    id,
    webUrl: `${baseUrl}/workflows/${encodeURIComponent(id)}`,
    name: row.name,
    description: row.description,
    folderPath: folderPathOf(row.folder),
    workspaceId,
    isDeployed: activeVersion !== null,
    deployedAt: deployedAt === null ? null : isoTime(deployedAt),
    runCount: runs.reduce((sum, count) => sum + count, 0),
    lastRunAt: lastRun === null ? null : isoTime(lastRun.startedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

export function detailV2(workflow: WorkflowV2, document: WorkflowDocument): Static<typeof WorkflowDetailV2> {
  const inputs = inputFormatOf(document).map(({ name: field, type, description: text }) => ({
    ...{ name: field, type },
    ...(text !== undefined && { description: text }),
  }))
  return { ...workflow, variables: document.variables ?? {}, inputs }
}

export const blockNamesOf = ({ blocks }: WorkflowDocument): Static<typeof BlockName>[] =>
  Object.entries(blocks).map(([id, block]) => ({ id, type: block.type, name: block.name }))
