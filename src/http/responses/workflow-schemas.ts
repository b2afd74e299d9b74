import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { Block, WorkflowDocument as Document } from '../../domain/workflow/workflow.ts'
import { listOf, maybe, Time } from './schema-parts.ts'
import { SentWebhook, Webhook } from './webhook-responses.ts'

/** `$id` names a schema in the OpenAPI document; `repairOpenApi` moves the schema to the components. */
export const FindingResponse = t.Object(
  {
    level: oneOf(['error', 'warning']),
    code: t.String(),
    path: t.String({ description: 'Where in the document.' }),
    blockId: maybe(t.String()),
    blockName: maybe(t.String()),
    message: t.String(),
  },
  { $id: 'Finding' },
)

const { webhooks: _webhooks, ...documentMembers } = Document.properties
const WorkflowDocument = t.Object(documentMembers, { $id: 'WorkflowDocument' })

/** A document as callers may send it: block ids, and everything with a default, are optional. */
const sendable = {
  ...documentMembers,
  blocks: recordOf(t.Object({ ...Block.properties, id: t.Optional(Block.properties.id) })),
  webhooks: t.Optional(t.Array(SentWebhook, { description: "Omit it to keep the workflow's subscriptions." })),
}
export const SentDocument = t.Object(sendable, { $id: 'SentWorkflow' })
export const NewWorkflow = t.Object(
  {
    ...sendable,
    workspaceId: t.Optional(
      t.String({ description: 'When absent: the only workspace that you can see, or the only one that you own.' }),
    ),
  },
  { $id: 'NewWorkflow' },
)

const facts = { id: t.String(), workspaceId: t.String(), createdAt: Time, updatedAt: Time }
const revision = t.Integer({ description: 'Increases with every save of the document; also its `ETag`.' })

const webhooks = t.Optional(t.Array(Webhook, { description: 'Without secrets; absent when there are none.' }))
export const WorkflowResponse = t.Object({ ...documentMembers, webhooks, ...facts, revision }, { $id: 'Workflow' })
export type WorkflowResponse = Static<typeof WorkflowResponse>

/** Present for a workflow with a schedule. */
export const ScheduleResponse = t.Object(
  { next: t.Array(Time, { description: 'The next few times at which it is due.' }) },
  { $id: 'Schedule' },
)
/** The triggers of a workflow besides the execute endpoint. */
const started = {
  schedule: t.Optional(ScheduleResponse),
  webhookUrl: t.Optional(t.String({ description: 'The address to which other services send requests that start it.' })),
  chatUrl: t.Optional(t.String({ description: 'The address of its chat page.' })),
  formUrl: t.Optional(t.String({ description: 'The address of its form.' })),
}

export const SavedWorkflow = t.Object(
  { ...WorkflowResponse.properties, findings: t.Array(FindingResponse), ...started },
  { $id: 'SavedWorkflow' },
)
export type SavedWorkflow = Static<typeof SavedWorkflow>

/** The check of a document that is not saved. Its addresses are the requested ones. */
export const CheckResponse = t.Object({ findings: t.Array(FindingResponse), ...started }, { $id: 'Checked' })

/** The report of an import. */
export const ImportedWorkflow = t.Object(
  {
    id: t.String(),
    name: t.String(),
    mapped: t.Array(t.Object({ blockId: t.String(), from: t.String(), to: t.String() }), {
      description: 'The converted blocks, with their types in Sim (`from`) and here (`to`).',
    }),
    placeholders: t.Array(t.Object({ blockId: t.String(), name: t.String(), from: t.String(), needs: t.String() }), {
      description: 'The blocks that you must replace before you deploy the workflow.',
    }),
    credentials: t.Array(t.Object({ name: t.String(), kind: t.Optional(t.String()), for: t.Array(t.String()) }), {
      description: 'The credentials that blocks name. Create those that the workspace does not have.',
    }),
    notes: t.Array(t.String(), { description: 'Sentences about the differences.' }),
  },
  { $id: 'ImportedWorkflow' },
)

export const WorkflowImport = t.Object(
  {
    workspaceId: t.Optional(
      t.String({ description: 'When absent: the only workspace that you can see, or the only one that you own.' }),
    ),
    format: t.Optional(t.Literal('sim', { description: 'The product that exported the file.' })),
    document: t.Unknown({ description: 'The content of the file.', expected: 'the content of a workflow file' }),
    update: t.Optional(
      t.Boolean({ description: 'Whether to replace a workflow of the same name that an import created.' }),
    ),
  },
  { $id: 'WorkflowImport' },
)

export const WorkflowList = listOf(
  t.Object(
    {
      ...facts,
      name: t.String(),
      description: maybe(t.String()),
      folder: maybe(t.String()),
      isDeployed: t.Boolean(),
      version: maybe(t.Integer()),
      deployedAt: maybe(Time),
    },
    { $id: 'WorkflowSummary' },
  ),
)

export const DeployResponse = t.Object(
  { version: t.Integer(), deployedAt: Time, warnings: t.Array(FindingResponse), ...started },
  { $id: 'Deployed' },
)

const deploymentFacts = {
  workflowId: t.String(),
  version: t.Integer(),
  name: maybe(t.String()),
  description: maybe(t.String()),
  createdAt: Time,
  createdBy: t.String({ description: 'The account that deployed it.' }),
  author: maybe(t.String({ description: 'The e-mail of that account; null when the account no longer exists.' })),
  isActive: t.Boolean(),
}
export const DeploymentList = listOf(t.Object(deploymentFacts, { $id: 'VersionSummary' }))
export const DeploymentResponse = t.Object({ ...deploymentFacts, document: WorkflowDocument }, { $id: 'Version' })

export const StatusResponse = t.Object(
  {
    isDeployed: t.Boolean(),
    deployedAt: maybe(Time),
    needsRedeployment: t.Boolean(),
    version: maybe(t.Integer()),
    starts: t.Optional(
      t.Object(
        {
          running: t.Integer(),
          waiting: t.Integer(),
          queued: t.Integer(),
          skipped: t.Integer(),
          refused: t.Integer(),
          replaced: t.Integer({ description: 'Starts that cancelled the oldest run.' }),
        },
        {
          description:
            'Present if the active version has limits on starts. `running` and `waiting` are the current numbers of ' +
            'runs and waiting starts. The others count the starts over the limits since the service started, by ' +
            'outcome. All numbers are those of one process.',
        },
      ),
    ),
    ...started,
  },
  { $id: 'DeploymentStatus' },
)
