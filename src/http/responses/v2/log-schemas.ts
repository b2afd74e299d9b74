import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { TraceSpan } from '../log-schemas.ts'
import { maybe, Time } from '../schema-parts.ts'
import { dataOf, pageOf } from './envelope.ts'
import { RunFileV2 } from './run-schemas.ts'

const facts = {
  runId: t.String(),
  workflowId: t.String(),
  deploymentVersionId: maybe(t.String({ description: 'The ID of the version that ran; null for the draft.' })),
  status: oneOf(['completed', 'failed', 'cancelled']),
  level: oneOf(['info', 'error']),
  trigger: t.String(),
  startedAt: Time,
  endedAt: Time,
  totalDurationMs: t.Number({ description: 'Includes the time during which the run was paused.' }),
  files: maybe(t.Array(RunFileV2)),
}

/** An entry of the log. */
export const LogEntryV2 = t.Object(
  {
    kind: t.Literal('workflow'),
    ...facts,
    cost: t.Object({ total: t.Number({ description: 'US dollars.' }) }),
    workflow: t.Optional(
      t.Object(
        { id: t.String(), name: t.String(), description: maybe(t.String()) },
        { description: 'With `details=full`.' },
      ),
    ),
    finalOutput: t.Optional(t.Unknown({ description: 'With `includeFinalOutput`.' })),
    traceSpans: t.Optional(t.Array(TraceSpan, { description: 'With `includeTraceSpans`.' })),
  },
  { $id: 'LogEntryV2' },
)
export type LogEntryV2 = Static<typeof LogEntryV2>
export const LogListV2 = pageOf(LogEntryV2)
export type LogListV2 = Static<typeof LogListV2>

/** An entry in detail. */
export const LogDetailV2 = dataOf(
  t.Object(
    {
      ...facts,
      executedByEmail: t.Null({ description: 'The log does not record who started a run.' }),
      workflow: t.Object({
        id: t.String(),
        name: t.String(),
        description: maybe(t.String()),
        folderPath: maybe(t.String()),
        ownerEmail: t.Null(),
        workspaceId: t.String(),
        createdAt: maybe(Time),
        updatedAt: maybe(Time),
        deleted: t.Boolean(),
      }),
      workflowState: maybe(t.Record(t.String(), t.Unknown(), { description: 'The version that ran.' })),
      traceSpans: t.Array(TraceSpan),
      finalOutput: t.Unknown(),
      cost: t.Object({
        total: t.Number({ description: 'US dollars.' }),
        items: maybe(
          t.Array(
            t.Object({
              category: t.Literal('model'),
              description: t.String({ description: 'The name of the model.' }),
              cost: t.Number(),
              inputTokens: t.Number(),
              outputTokens: t.Number(),
            }),
          ),
        ),
      }),
      workflowInput: t.Unknown({ description: 'The input of the run; null if the trace is too large to read.' }),
      createdAt: Time,
    },
    { $id: 'LogDetailV2' },
  ),
)
export type LogDetailV2 = Static<typeof LogDetailV2>
