import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { PauseFacts } from './pauses/pause-schemas.ts'
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
