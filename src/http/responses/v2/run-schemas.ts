import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { maybe, Time } from '../schema-parts.ts'
import { dataOf, pageOf } from './envelope.ts'

/** Why a run failed. */
export const RunErrorV2 = t.Object(
  {
    message: t.String(),
    code: oneOf(['TIMEOUT', 'CANCELLED', 'BLOCK_EXECUTION_FAILED', 'EXECUTION_FAILED']),
    blockId: t.Optional(t.String({ description: 'The block that failed.' })),
    blockName: t.Optional(t.String()),
  },
  { $id: 'RunErrorV2' },
)
export type RunErrorV2 = Static<typeof RunErrorV2>

const blockOutputs = maybe(
  t.Record(t.String(), t.Unknown(), {
    description: 'The values of `selectedOutputs` that exist, by entry; null if nothing was selected.',
  }),
)

/** A run that has ended or is paused, for the caller that waited for it. */
export const RunV2 = t.Object(
  {
    runId: t.String(),
    workflowId: t.String(),
    status: oneOf(['completed', 'failed', 'paused', 'cancelled']),
    output: t.Unknown({ description: 'The output of the last block on the path, or the content of a response block.' }),
    blockOutputs,
    error: maybe(RunErrorV2),
    startedAt: t.Optional(Time),
    endedAt: t.Optional(Time),
    durationMs: t.Optional(t.Number()),
  },
  { $id: 'RunV2' },
)
export type RunV2 = Static<typeof RunV2>

/** A run that goes on without its caller. */
export const AcceptedV2 = t.Object(
  { runId: t.String(), statusUrl: t.String({ description: 'The address that returns the status of the run.' }) },
  { $id: 'AcceptedV2' },
)
export type AcceptedV2 = Static<typeof AcceptedV2>

/** A start that the limits of the workflow skip. */
export const SkippedV2 = t.Object({ status: t.Literal('skipped') }, { $id: 'SkippedV2' })

export const RunResponseV2 = dataOf(RunV2)
export const AcceptedResponseV2 = dataOf(AcceptedV2)
export const SkippedResponseV2 = dataOf(SkippedV2)
export const skippedTextV2 = JSON.stringify({ data: { status: 'skipped' } } satisfies Static<typeof SkippedResponseV2>)

export const runStatusesV2 = ['pending', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const

const TotalCost = t.Object({ total: t.Number({ description: 'US dollars.' }) })

/** A run in a list. */
export const ListedRunV2 = t.Object(
  {
    runId: t.String(),
    workflowId: t.String(),
    status: oneOf(runStatusesV2),
    trigger: t.String(),
    startedAt: t.String({ format: 'date-time', description: 'For a pending run, the time when it was accepted.' }),
    endedAt: maybe(Time),
    durationMs: maybe(t.Number()),
    cost: maybe(TotalCost),
  },
  { $id: 'ListedRunV2' },
)
export type ListedRunV2 = Static<typeof ListedRunV2>
export const RunListV2 = pageOf(ListedRunV2)
export type RunListV2 = Static<typeof RunListV2>

/** A file that a run received or stored. */
export const RunFileV2 = t.Object(
  {
    id: t.String(),
    name: t.String(),
    size: t.Number(),
    type: t.String(),
    downloadPath: t.String({ description: 'A signed address that is valid for a limited time.' }),
    base64: t.Optional(t.Null()),
  },
  { $id: 'RunFileV2' },
)

/** A run at its own address. */
export const RunDetailV2 = t.Object(
  {
    runId: t.String(),
    workflowId: t.String(),
    status: oneOf(runStatusesV2),
    trigger: maybe(t.String()),
    startedAt: maybe(Time),
    endedAt: maybe(Time),
    durationMs: maybe(t.Number()),
    paused: maybe(
      t.Object({
        contextId: maybe(
          t.String({ description: 'The ID of the pause to resume; a pause that a person must answer comes first.' }),
        ),
        pausedAt: Time,
        resumeAt: maybe(Time),
        pauseKind: maybe(oneOf(['time', 'human'])),
        blockedOnBlockId: maybe(t.String()),
        automaticResumeWaitingReason: t.Null(),
        pausePointCount: t.Integer(),
        resumedCount: t.Integer(),
      }),
    ),
    cost: maybe(TotalCost),
    error: maybe(RunErrorV2),
    output: t.Unknown({
      description: 'The output, with `includeOutput`; otherwise, or until the run has completed, null.',
    }),
    blockOutputs,
    files: maybe(t.Array(RunFileV2)),
  },
  { $id: 'RunDetailV2' },
)
export type RunDetailV2 = Static<typeof RunDetailV2>
export const RunDetailResponseV2 = dataOf(RunDetailV2)
export type RunDetailResponseV2 = Static<typeof RunDetailResponseV2>

export const CancelledV2 = t.Object(
  {
    success: t.Boolean({ description: 'Whether this request cancelled the run.' }),
    runId: t.String(),
    redisAvailable: t.Boolean({
      description: 'Always true: the request reached the process that has the run.',
    }),
    durablyRecorded: t.Boolean({ description: 'Whether the run is asynchronous, so that its end is on disk.' }),
    locallyAborted: t.Boolean({ description: 'Whether blocks of the run were stopped.' }),
    pausedCancelled: t.Boolean({ description: 'Whether the run was paused.' }),
    reason: t.Optional(oneOf(['already_cancelled', 'already_completed', 'already_failed'])),
  },
  { $id: 'CancelledV2' },
)
export type CancelledV2 = Static<typeof CancelledV2>
export const CancelledResponseV2 = dataOf(CancelledV2)
