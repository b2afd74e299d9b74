// Long because it is one list: the responses of every route.
import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { Block, WorkflowDocument as Document, triggerKinds } from '../../domain/workflow/workflow.ts'
import { documented } from '../openapi/operation.ts'
import { Cost, modelFacts, Tokens } from './cost-response.ts'
import { FileObject } from './file-object.ts'
import { RunWebhook, SentWebhook, Webhook } from './webhook-responses.ts'

/** The responses of the routes, for the OpenAPI document, the typed client and the tests that check them. */

export const Time = t.String({ format: 'date-time', description: 'ISO 8601, UTC, with milliseconds.' })
export const maybe = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
export const listOf = <Schema extends TSchema>(schema: Schema) => t.Object({ data: t.Array(schema) })

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
  blocks: t.Record(t.String(), t.Object({ ...Block.properties, id: t.Optional(Block.properties.id) })),
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
}

export const SavedWorkflow = t.Object(
  { ...WorkflowResponse.properties, findings: t.Array(FindingResponse), ...started },
  { $id: 'SavedWorkflow' },
)
export type SavedWorkflow = Static<typeof SavedWorkflow>

/** The check of a document that is not saved. Its addresses are the requested ones. */
export const CheckResponse = t.Object({ findings: t.Array(FindingResponse), ...started }, { $id: 'Checked' })

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
    ...started,
  },
  { $id: 'DeploymentStatus' },
)

export const JobResponse = t.Object(
  {
    success: t.Boolean({ description: 'False when the run failed or was cancelled.' }),
    taskId: t.String(),
    executionId: t.String(),
    status: oneOf(['queued', 'processing', 'completed', 'failed', 'cancelled']),
    metadata: t.Object({
      createdAt: Time,
      startedAt: maybe(
        t.String({ format: 'date-time', description: 'Null while the run is queued, and when it ended there.' }),
      ),
      completedAt: maybe(Time),
      duration: maybe(t.Number({ description: 'Milliseconds; null until the run has ended.' })),
    }),
    output: t.Optional(t.Unknown()),
    error: t.Optional(
      t.Object({
        code: t.String(),
        message: t.String(),
        blockId: t.Optional(t.String()),
        blockName: t.Optional(t.String()),
      }),
    ),
  },
  { $id: 'Job' },
)
export type JobResponse = Static<typeof JobResponse>

export const CancelResponse = t.Object({ success: t.Literal(true), status: t.Literal('cancelled') })

export const RateState = t.Object({ limit: t.Number(), remaining: t.Number(), resetAt: Time }, { $id: 'RateLimit' })
export const LimitsResponse = t.Object(
  {
    workflowExecutionRateLimit: t.Object({ sync: RateState, async: RateState }),
    usage: t.Object({
      currentPeriodCost: t.Number({ description: 'USD, this calendar month (UTC).' }),
      limit: t.Number({ description: 'USD a month.' }),
      plan: t.String(),
      isExceeded: t.Boolean(),
    }),
  },
  { $id: 'Limits' },
)
export type LimitsResponse = Static<typeof LimitsResponse>

const UsageState = t.Object({ isLimited: t.Boolean(), ...RateState.properties })
export const UsageLimits = t.Object(
  {
    success: t.Literal(true),
    rateLimit: t.Object({ sync: UsageState, async: UsageState, authType: t.Literal('api') }),
    usage: t.Object({ currentPeriodCost: t.Number(), limit: t.Number(), plan: t.String() }),
  },
  { $id: 'UsageLimits' },
)

/** The record of a block, a run, an iteration or a sub-workflow. Values over 256 KB are stored as a preview. */
export const TraceSpan = t.Object(
  {
    id: t.String(),
    name: t.String(),
    type: t.String({
      description:
        "The block's type; `workflow` for the root, `iteration` for one pass of a loop, `model` and `tool` inside an agent.",
    }),
    blockId: maybe(t.String()),
    status: oneOf(['success', 'error', 'skipped', 'cancelled']),
    startTime: Time,
    endTime: Time,
    duration: maybe(t.Number({ description: 'Milliseconds.' })),
    input: t.Unknown(),
    output: t.Unknown(),
    error: t.Optional(t.Object({ code: t.String(), message: t.String() })),
    attempts: t.Optional(
      t.Array(
        t.Object({
          number: t.Integer(),
          startTime: Time,
          duration: maybe(t.Number()),
          status: t.Optional(t.Integer()),
          error: t.Optional(t.String()),
        }),
      ),
    ),
    ...modelFacts,
    children: t.Array(t.Unsafe<unknown>({ $ref: '#/components/schemas/TraceSpan' })),
  },
  { $id: 'TraceSpan' },
)

export const logFacts = {
  id: t.String(),
  workflowId: t.String(),
  executionId: t.String(),
  level: oneOf(['info', 'error']),
  trigger: oneOf(triggerKinds),
  startedAt: Time,
  endedAt: Time,
  totalDurationMs: t.Number(),
  files: maybe(t.Array(FileObject)),
}
const WorkflowFacts = t.Object({ id: t.String(), name: t.String(), description: t.String() })

export const LogList = t.Object({
  data: t.Array(
    t.Object(
      {
        ...logFacts,
        cost: t.Object({ total: t.Number(), tokens: t.Optional(Tokens), models: t.Optional(Cost.properties.models) }),
        workflow: t.Optional(WorkflowFacts),
        finalOutput: t.Optional(t.Unknown({ description: 'With `includeFinalOutput`.' })),
        traceSpans: t.Optional(t.Array(TraceSpan, { description: 'With `includeTraceSpans`.' })),
      },
      { $id: 'LogEntry' },
    ),
  ),
  nextCursor: maybe(t.String({ description: 'Continues this query; opaque.' })),
  limits: LimitsResponse,
})
export type LogList = Static<typeof LogList>

export const LogDetail = t.Object(
  {
    data: t.Object({
      ...logFacts,
      cost: Cost,
      workflow: WorkflowFacts,
      executionData: t.Object({ traceSpans: t.Array(TraceSpan), finalOutput: t.Unknown() }),
      limits: LimitsResponse,
    }),
    limits: LimitsResponse,
  },
  { $id: 'LogDetail' },
)
export type LogDetail = Static<typeof LogDetail>

export const EditorLogDetail = t.Object({ ...LogDetail.properties, workspaceId: t.String() })
export type EditorLogDetail = Static<typeof EditorLogDetail>

export const ExecutionDetail = t.Object(
  {
    executionId: t.String(),
    workflowId: t.String(),
    workflowState: t.Object({
      blocks: t.Record(t.String(), t.Unknown()),
      edges: t.Array(t.Unknown()),
      loops: t.Record(t.String(), t.Unknown()),
      parallels: t.Record(t.String(), t.Unknown()),
    }),
    executionMetadata: t.Object({
      trigger: logFacts.trigger,
      startedAt: Time,
      endedAt: Time,
      totalDurationMs: t.Number(),
      cost: Cost,
    }),
    limits: LimitsResponse,
  },
  { $id: 'ExecutionDetail' },
)
export type ExecutionDetail = Static<typeof ExecutionDetail>

export const RunWebhooks = t.Object({ data: t.Array(RunWebhook), limits: LimitsResponse })
export type RunWebhooks = Static<typeof RunWebhooks>

export const WorkspaceList = listOf(
  t.Object(
    { id: t.String(), name: t.String(), role: oneOf(['owner', 'editor', 'viewer']), createdAt: Time },
    { $id: 'Workspace' },
  ),
)
const Variable = t.Object({
  name: t.String(),
  plain: t.Boolean({ description: 'Whether logs may show its value.' }),
  updatedAt: Time,
})
export const VariableResponse = t.Object(Variable.properties, { $id: 'Variable' })
export const EnvironmentList = listOf(Variable)
export const NewValue = t.Object({
  value: t.String({ description: 'At most 64 KB of text.' }),
  plain: t.Optional(t.Boolean({ default: false, description: 'Whether logs may show it.' })),
})

export const Credentials = t.Object({
  email: t.String({ minLength: 1, maxLength: 254 }),
  password: t.String({ minLength: 1 }),
})
export const SessionResponse = t.Object({ userId: t.String(), expiresAt: Time }, { $id: 'Session' })

export const FolderList = listOf(t.Object({ id: t.String(), path: t.String() }, { $id: 'Folder' }))
export const QuoteList = listOf(t.Object({ author: t.String(), text: t.String(), tag: t.String() }, { $id: 'Quote' }))
export const HealthResponse = t.Object({ status: t.Literal('ok'), version: t.String() })
export const ReadyResponse = t.Object({
  status: t.Literal('ok'),
  store: t.Literal('ok'),
  writer: t.Object({ waiting: t.Integer({ description: 'Ended runs whose log entries are not on disk yet.' }) }),
})

/**
 * The responses of a route, by status. The service does not check them: a response that does not match its schema would
 * turn a readable document into a 500. The tests check them instead.
 */
export function responses<const Schemas extends Record<number, TSchema>>(schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([status, schema]) => [status, documented(schema)])) as Schemas
}

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
