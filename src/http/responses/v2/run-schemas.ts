import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { maybe, Time } from '../schema-parts.ts'
import { dataOf } from './envelope.ts'

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
    description: 'The values of `selectedOutputs` that exist, by entry; null when nothing was selected.',
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
