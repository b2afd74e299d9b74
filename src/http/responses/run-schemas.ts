import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { ListedPause, PauseFacts } from './pauses/pause-schemas.ts'
import { maybe, Time } from './schema-parts.ts'

export const JobResponse = t.Object(
  {
    success: t.Boolean({ description: 'False when the run failed or was cancelled.' }),
    taskId: t.String(),
    executionId: t.String(),
    status: oneOf(['queued', 'processing', 'paused', 'completed', 'failed', 'cancelled']),
    metadata: t.Object({
      createdAt: Time,
      startedAt: maybe(
        t.String({ format: 'date-time', description: 'Null while the run is queued, and when it ended there.' }),
      ),
      completedAt: maybe(Time),
      duration: maybe(t.Number({ description: 'Milliseconds; null until the run has ended.' })),
    }),
    paused: t.Optional(t.Array(PauseFacts, { description: 'The pauses of a paused run.' })),
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

export const runStatuses = ['queued', 'processing', 'paused', 'completed', 'failed', 'cancelled'] as const

export const ListedRun = t.Object({
  executionId: t.String(),
  workflowId: t.String(),
  workflowName: maybe(t.String()),
  status: oneOf(runStatuses),
  trigger: t.String(),
  startedAt: maybe(Time),
  endedAt: maybe(Time),
})
export type ListedRun = Static<typeof ListedRun>

export const RunList = t.Object({
  data: t.Array(ListedRun),
  nextCursor: maybe(t.String({ description: 'The cursor of the next page; null on the last one.' })),
})
export type RunList = Static<typeof RunList>

/** A run with its progress. */
export const RunDetail = t.Composite([
  ListedRun,
  t.Object({
    logId: maybe(t.String({ description: 'The log entry of a run that has ended.' })),
    paused: t.Array(ListedPause, { description: 'Its open pauses, at most 100.' }),
    blocks: t.Array(
      t.Object({
        blockId: t.String(),
        blockName: t.String(),
        blockType: t.String(),
        status: oneOf(['running', 'success', 'error', 'skipped', 'cancelled']),
        startedAt: Time,
        durationMs: maybe(t.Number({ description: 'Null while the block runs.' })),
      }),
      { description: 'The latest 200 blocks of a run that has not ended, in the order in which they started.' },
    ),
    blocksComplete: t.Boolean({
      description: 'False when there are earlier blocks, or blocks whose values are too large to be read here.',
    }),
  }),
])
export type RunDetail = Static<typeof RunDetail>
