import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'
import { recordOf } from '../record-of.ts'
import { Subscription, subscriptionsMax } from '../webhook/subscription.ts'
import { McpExposure } from './mcp-exposure.ts'
import { WorkflowLimits } from './workflow-limits.ts'

/** The workflow document, which the editor draws, Git stores and a deployment copies. */

export const FieldType = t.Union([
  t.Literal('string'),
  t.Literal('number'),
  t.Literal('boolean'),
  t.Literal('object'),
  t.Literal('array'),
  t.Literal('files'),
])
export type FieldType = Static<typeof FieldType>

/** One declared field of a trigger's input. `value` is the sample for manual runs. */
export const InputField = t.Object({
  name: t.String({ minLength: 1, maxLength: 200 }),
  type: FieldType,
  value: t.Optional(t.Unknown()),
  required: t.Optional(t.Boolean()),
  description: t.Optional(t.String()),
})
export type InputField = Static<typeof InputField>

/**
 * The block of another product from which a block was imported. `type`: its type there. `values`: the settings that
 * have no place in the parameters, kept for people and for an export.
 */
export const BlockOrigin = t.Object({ type: t.String({ maxLength: 200 }), values: t.Optional(recordOf(t.Unknown())) })
export type BlockOrigin = Static<typeof BlockOrigin>

export const Block = t.Object({
  id: t.String({ minLength: 1, maxLength: 200 }),
  type: t.String({ minLength: 1, maxLength: 100 }),
  name: t.String({ minLength: 1, maxLength: 200 }),
  position: t.Optional(t.Object({ x: t.Number(), y: t.Number() })),
  enabled: t.Optional(t.Boolean()),
  params: t.Optional(recordOf(t.Unknown())),
  parentId: t.Optional(t.Union([t.String(), t.Null()])),
  /** Absent for blocks that were not imported. */
  origin: t.Optional(BlockOrigin),
})
export type Block = Static<typeof Block>

export const Edge = t.Object({
  id: t.Optional(t.String()),
  source: t.String({ minLength: 1 }),
  target: t.String({ minLength: 1 }),
  sourceHandle: t.Optional(t.Union([t.String(), t.Null()])),
  targetHandle: t.Optional(t.Union([t.String(), t.Null()])),
})
export type Edge = Static<typeof Edge>

export const OnError = oneOf(['stop', 'continue'], {
  title: 'On error',
  labels: { stop: 'Stop the run', continue: 'Continue' },
})
export type OnError = Static<typeof OnError>

export const Loop = t.Object({
  id: t.Optional(t.String()),
  nodes: t.Optional(t.Array(t.String())),
  loopType: oneOf(['for', 'forEach', 'while', 'doWhile'], {
    title: 'Repeat',
    labels: {
      for: 'Fixed number of times',
      forEach: 'For each item in a list',
      while: 'While a condition is true',
      doWhile: 'Once, then while a condition is true',
    },
  }),
  iterations: t.Optional(t.Unknown({ title: 'Times' })),
  forEachItems: t.Optional(t.Unknown({ title: 'Items' })),
  condition: t.Optional(t.String({ title: 'Condition' })),
  onError: t.Optional(OnError),
})
export type Loop = Static<typeof Loop>

export const Parallel = t.Object({
  id: t.Optional(t.String()),
  nodes: t.Optional(t.Array(t.String())),
  parallelType: oneOf(['count', 'collection'], {
    title: 'Repeat',
    labels: { count: 'Fixed number of times', collection: 'For each item in a list' },
  }),
  count: t.Optional(t.Unknown({ title: 'Times' })),
  distribution: t.Optional(t.Unknown({ title: 'Items' })),
  concurrency: t.Optional(t.Unknown({ title: 'At the same time' })),
  onError: t.Optional(OnError),
})
export type Parallel = Static<typeof Parallel>

export const Variable = t.Object({ type: t.Optional(t.String()), value: t.Optional(t.Unknown()) })
export type Variable = Static<typeof Variable>

export const NoteColor = t.Union([
  t.Literal('yellow'),
  t.Literal('green'),
  t.Literal('blue'),
  t.Literal('purple'),
  t.Literal('red'),
  t.Literal('gray'),
])

/** A note on the canvas, for people only. */
export const Note = t.Object({
  id: t.String({ minLength: 1, maxLength: 200 }),
  text: t.String({ maxLength: 20_000 }),
  position: t.Object({ x: t.Number(), y: t.Number() }),
  width: t.Optional(t.Number({ minimum: 1, maximum: 10_000 })),
  height: t.Optional(t.Number({ minimum: 1, maximum: 10_000 })),
  /** Yellow when it is absent. */
  color: t.Optional(NoteColor),
})
export type Note = Static<typeof Note>

export const WorkflowDocument = t.Object({
  id: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[A-Za-z0-9_-]+$',
      expected: 'letters, digits, "-" and "_" only',
    }),
  ),
  name: t.String({ minLength: 1, maxLength: 200 }),
  description: t.Optional(t.String({ maxLength: 10_000 })),
  folder: t.Optional(t.String({ maxLength: 1000 })),
  blocks: recordOf(Block),
  edges: t.Array(Edge),
  loops: t.Optional(recordOf(Loop)),
  parallels: t.Optional(recordOf(Parallel)),
  variables: t.Optional(recordOf(Variable)),
  limits: t.Optional(WorkflowLimits),
  /** Whether MCP clients get the deployed workflow as a tool. */
  mcp: t.Optional(McpExposure),
  notes: t.Optional(recordOf(Note)),
  /** Subscriptions belong to the workflow, not to a version. A stored document does not contain them. */
  webhooks: t.Optional(t.Array(Subscription, { maxItems: subscriptionsMax })),
  /** Where an imported workflow came from. `values`: what has no place in the document, kept for an export. */
  origin: t.Optional(t.Object({ format: t.Literal('sim'), values: t.Optional(recordOf(t.Unknown())) })),
})
export type WorkflowDocument = Static<typeof WorkflowDocument>

/** The part of a document that determines a run, shown in an execution detail. */
export type WorkflowState = Required<Pick<WorkflowDocument, 'blocks' | 'edges' | 'loops' | 'parallels'>>

/** One finding of the check at deployment. Errors prevent the deployment, warnings do not. */
export type Finding = {
  level: 'error' | 'warning'
  /** For programs, e.g. `UNKNOWN_BLOCK_TYPE`. */
  code: string
  /** Where in the document, e.g. `blocks.b1.params.url`. */
  path: string
  blockId: string | null
  blockName: string | null
  message: string
}

export const triggerKinds = ['api', 'webhook', 'schedule', 'manual', 'chat'] as const
export type TriggerKind = (typeof triggerKinds)[number]

/**
 * The kinds of triggers at which a run can start. The log counts a form, an event or an e-mail as a webhook, and a
 * poll or a feed as a schedule; their source says more.
 */
export const startKinds = [...triggerKinds, 'form', 'poll', 'rss', 'event', 'email'] as const
export type StartKind = (typeof startKinds)[number]

export function triggerOf(start: StartKind): TriggerKind {
  if (start === 'form' || start === 'event' || start === 'email') return 'webhook'
  return start === 'poll' || start === 'rss' ? 'schedule' : start
}

export function stateOf(document: WorkflowDocument): WorkflowState {
  return {
    blocks: document.blocks,
    edges: document.edges,
    loops: document.loops ?? {},
    parallels: document.parallels ?? {},
  }
}
