import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'
import { runSources, runStatuses } from '../../domain/run/log.ts'
import { pauseKinds } from '../../domain/run/pause.ts'
import { triggerKinds } from '../../domain/workflow/workflow.ts'
import { LimitsResponse } from './account-schemas.ts'
import { Cost, modelFacts, Tokens } from './cost-response.ts'
import { FileObject } from './file-object.ts'
import { maybe, Time } from './schema-parts.ts'
import { RunWebhook } from './webhook-responses.ts'

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
    pauses: t.Optional(
      t.Array(
        t.Object({
          ...{ contextId: t.String(), kind: oneOf(pauseKinds), since: Time, endedAt: Time },
          outcome: oneOf(['answered', 'expired', 'cancelled'], {
            description: '`expired`: its time was over, as at the end of a `wait`.',
          }),
          by: maybe(t.String({ description: 'The account of the last answer.' })),
        }),
        { description: 'The pauses of the run at this block.' },
      ),
    ),
    pinned: t.Optional(t.Literal(true, { description: 'It did not run: its outputs are pinned in the draft.' })),
    reused: t.Optional(t.Literal(true, { description: 'It did not run: its outputs come from an earlier run.' })),
    traceId: t.Optional(
      t.String({ description: 'The OpenTelemetry trace as which the run was exported. Only at the root.' }),
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
  totalDurationMs: t.Number({ description: 'Includes `pausedMs`.' }),
  files: maybe(t.Array(FileObject)),
}
/** How long the run was paused. */
const pausedMs = maybe(
  t.Number({ description: 'How long the run was paused; overlapping pauses count once. Null if it never paused.' }),
)
/** The version that ran, and how it ran. */
export const runNotes = {
  version: maybe(t.Integer({ description: 'The deployed version that ran; null: the draft.' })),
  versionName: maybe(t.String({ description: 'The present name of that version.' })),
  status: oneOf(runStatuses, {
    description:
      'Tells a run that was stopped, or whose caller left, from one that failed; the `level` of both is `error`.',
  }),
  partial: t.Boolean({ description: 'Whether only a part of the workflow ran.' }),
  labels: recordOf(t.String(), { description: 'The labels that the run gave itself.' }),
  source: maybe(
    oneOf(runSources, {
      description:
        '`rerun`: it repeats an earlier run. `mcp`: an MCP client called the workflow as a tool. The others: a form, ' +
        'a new item of a poll or feed, an event, or an e-mail started it.',
    }),
  ),
}
const WorkflowFacts = t.Object({ id: t.String(), name: t.String(), description: t.String() })

const RunError = t.Object(
  { code: t.String(), message: t.String(), blockId: maybe(t.String()), blockName: maybe(t.String()) },
  { description: 'Why the run failed. Only in the dashboard.' },
)

export const LogList = t.Object({
  data: t.Array(
    t.Object(
      {
        ...logFacts,
        pausedMs,
        ...runNotes,
        cost: t.Object({ total: t.Number(), tokens: t.Optional(Tokens), models: t.Optional(Cost.properties.models) }),
        error: t.Optional(maybe(RunError)),
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
      pausedMs,
      ...runNotes,
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
      blocks: recordOf(t.Unknown()),
      edges: t.Array(t.Unknown()),
      loops: recordOf(t.Unknown()),
      parallels: recordOf(t.Unknown()),
    }),
    executionMetadata: t.Object({
      trigger: logFacts.trigger,
      startedAt: Time,
      endedAt: Time,
      totalDurationMs: t.Number(),
      pausedMs,
      cost: Cost,
      ...runNotes,
    }),
    limits: LimitsResponse,
  },
  { $id: 'ExecutionDetail' },
)
export type ExecutionDetail = Static<typeof ExecutionDetail>

export const RunWebhooks = t.Object({ data: t.Array(RunWebhook), limits: LimitsResponse })
export type RunWebhooks = Static<typeof RunWebhooks>
