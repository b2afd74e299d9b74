import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../../domain/one-of.ts'
import { pauseAccesses, pauseKinds } from '../../../domain/run/pause.ts'
import { FieldFacts } from '../forms/form-facts.ts'
import { maybe, Time } from '../schema-parts.ts'

/** A block at which a run waits for a time or an answer. */
export const PauseFacts = t.Object(
  {
    contextId: t.String({ description: 'The ID of the pause.' }),
    blockId: t.String(),
    blockName: t.String(),
    kind: oneOf(pauseKinds),
    since: Time,
    until: maybe(t.String({ format: 'date-time', description: 'When it ends by itself; null: never.' })),
  },
  { $id: 'Pause' },
)
export type PauseFacts = Static<typeof PauseFacts>

/** The response for a run that is paused. */
export const PausedResponse = t.Object(
  {
    success: t.Literal(true),
    status: t.Literal('paused'),
    executionId: t.String(),
    paused: t.Array(PauseFacts),
    statusUrl: t.String({ description: 'The address that returns the status of the run.' }),
  },
  { $id: 'Paused' },
)
export type PausedResponse = Static<typeof PausedResponse>

/** A pause with the run that it belongs to. */
export const ListedPause = t.Composite([
  PauseFacts,
  t.Object({
    outerBlockId: t.String({
      description:
        'The block of the workflow where the run waits. If a called workflow waits, the block that calls it.',
    }),
    executionId: t.String(),
    workflowId: t.String(),
    workflowName: maybe(t.String()),
    title: maybe(t.String({ description: 'The question of an approval.' })),
    access: maybe(oneOf(pauseAccesses, { description: 'Who may answer an approval.' })),
  }),
])
export type ListedPause = Static<typeof ListedPause>

export const PauseList = t.Object({
  data: t.Array(ListedPause),
  nextCursor: maybe(t.String({ description: 'The cursor of the next page; null on the last one.' })),
})

export const PauseCounts = t.Object({
  data: t.Array(
    t.Object({
      blockId: maybe(t.String({ description: 'The `outerBlockId` of these pauses; null without `workflowId`.' })),
      kind: oneOf(pauseKinds),
      count: t.Integer(),
    }),
  ),
  complete: t.Boolean({ description: 'False when there are more pauses than were counted.' }),
})

export const PauseChange = t.Object({
  until: maybe(t.String({ format: 'date-time', description: 'When the pause ends by itself; null: never.' })),
})

/** An open pause with its question, for members of its workspace. */
export const PauseDetail = t.Composite([
  ListedPause,
  t.Object({
    message: t.String(),
    fields: t.Array(FieldFacts),
    accounts: t.Array(t.String({ description: 'The accounts that may answer, when `access` is `accounts`.' })),
    required: t.Integer({ description: 'How many people must approve.' }),
    answers: t.Array(t.Object({ approved: t.Boolean(), by: maybe(t.String()), at: Time, fields: t.Unknown() })),
    mayAnswer: t.Boolean({ description: 'Whether the caller may answer.' }),
    url: maybe(t.String({ description: 'The page of an approval; null for callers who may not answer.' })),
    callbackUrl: maybe(t.String({ description: 'The address for programs; null for callers who may not answer.' })),
  }),
])
export type PauseDetail = Static<typeof PauseDetail>

/** The question of a run. */
export const AskedFacts = t.Object({
  kind: oneOf(pauseKinds),
  title: t.String(),
  message: t.String(),
  fields: t.Array(FieldFacts),
  since: Time,
  until: maybe(Time),
  required: t.Integer({ description: 'How many people must approve.' }),
  answers: t.Integer({ description: 'How many have approved.' }),
  by: maybe(t.String({ description: 'The account that answers; null for someone with the link.' })),
})
export type AskedFacts = Static<typeof AskedFacts>

export const Answer = t.Object(
  {
    approved: t.Optional(t.Boolean({ default: true })),
    fields: t.Optional(t.Record(t.String(), t.Unknown())),
  },
  { additionalProperties: true, description: 'At a block that waits for a call: any JSON.' },
)

export const Answered = t.Object({
  success: t.Literal(true),
  outcome: oneOf(['resumed', 'waiting for others']),
})

const PausePoint = t.Object({
  contextId: t.String(),
  blockId: t.String(),
  kind: oneOf(pauseKinds),
  registeredAt: Time,
  expiresAt: maybe(Time),
  resumeStatus: oneOf(['paused', 'resumed', 'expired', 'cancelled']),
})

/** A run with its pauses, in the shape that clients of Sim read. */
export const PausedExecution = t.Object({
  executionId: t.String(),
  workflowId: t.String(),
  status: oneOf(['paused', 'resumed']),
  totalPauseCount: t.Integer(),
  resumedCount: t.Integer(),
  pausedAt: Time,
  pausePoints: t.Array(PausePoint),
})
export type PausedExecution = Static<typeof PausedExecution>

export const PausedExecutions = t.Object({ pausedExecutions: t.Array(PausedExecution) })

export const ResumeInput = t.Object({ input: t.Optional(t.Record(t.String(), t.Unknown())) })

export const Resumed = t.Object({ status: t.Literal('started'), executionId: t.String(), message: t.String() })
