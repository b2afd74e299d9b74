import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { deliveryStates } from '../../domain/webhook/delivery.ts'
import { runEvents } from '../../domain/webhook/run-event.ts'
import { Subscription } from '../../domain/webhook/subscription.ts'

/** Requests and responses about webhook subscriptions, which documents contain in the same form. */

const maybe = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
const Time = t.String({ format: 'date-time' })
const { secret: _, ...shown } = Subscription.properties
export const Webhook = t.Object(shown, { $id: 'Webhook' })

/** A webhook subscription as callers send it. */
export const SentWebhook = t.Object(
  {
    ...shown,
    secret: t.Optional(
      maybe(
        t.String({
          description: 'Omit it to keep the stored secret of this `id`; null means that deliveries are not signed.',
        }),
      ),
    ),
  },
  { $id: 'SentWebhook' },
)

/** A webhook subscription as the editor shows it. */
export const EditorWebhook = t.Object(
  {
    ...t.Required(t.Object(shown)).properties,
    levelFilter: shown.levelFilter,
    triggerFilter: shown.triggerFilter,
    secret: oneOf(['none', 'set', 'lost'], {
      description: '`lost`: it can no longer be decrypted, so nothing is delivered until it is set again.',
    }),
    previousSecretUntil: maybe(
      t.String({
        format: 'date-time',
        description: 'Until then, deliveries are also signed with the previous secret.',
      }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'EditorWebhook' },
)
export type EditorWebhook = Static<typeof EditorWebhook>

const Attempt = t.Object(
  {
    number: t.Integer({ description: 'From 1.' }),
    startedAt: Time,
    durationMs: t.Number(),
    status: maybe(t.Integer({ description: 'The status of the response; null when there was none.' })),
    error: maybe(t.Object({ code: t.String(), message: t.String() }, { description: 'Null when it was accepted.' })),
    answer: maybe(t.String({ description: "The beginning of the response's body, at most 2 KB." })),
  },
  { $id: 'DeliveryAttempt' },
)
export type AttemptResponse = Static<typeof Attempt>

const { number: _number, ...ended } = Attempt.properties
/** The outcome of a test delivery. */
export const TestDeliveryResponse = t.Object(
  {
    delivered: t.Boolean(),
    deliveryId: t.String(),
    ...ended,
    body: t.String({ description: 'What was sent.' }),
  },
  { $id: 'WebhookTest' },
)

const deliveryFacts = {
  id: t.String({ description: '`svc-delivery-id`, which is also `Idempotency-Key`.' }),
  eventId: t.String({ description: '`id` of the body.' }),
  event: oneOf(runEvents, { description: 'The event: the end of a run, or pauses that begin or end.' }),
  webhookId: t.String(),
  url: t.String({ description: 'As it is written now.' }),
  workflowId: t.String(),
  executionId: t.String(),
  version: maybe(t.Integer({ description: 'The deployed version that ran; null: the draft.' })),
  versionName: maybe(t.String({ description: 'The present name of that version.' })),
  logId: maybe(t.String({ description: 'The log entry of the run; null until the run has ended.' })),
  state: oneOf(deliveryStates, { description: '`pending`: until it is delivered, fails for good, or is cancelled.' }),
  createdAt: Time,
  nextAttemptAt: maybe(t.String({ format: 'date-time', description: 'Null unless it is pending.' })),
  attemptCount: t.Integer(),
  lastAttempt: maybe(Attempt),
}
export const Delivery = t.Object(deliveryFacts, { $id: 'Delivery' })
export type DeliveryResponse = Static<typeof Delivery>

export const DeliveryList = t.Object({
  data: t.Array(Delivery),
  nextCursor: maybe(t.String({ description: 'Continues this query; opaque.' })),
})
export const DeliveryDetail = t.Object(
  { ...deliveryFacts, attempts: t.Array(Attempt, { description: 'The first one first.' }) },
  { $id: 'DeliveryDetail' },
)
export const Resent = t.Object({ resent: t.Integer({ description: 'Deliveries that are due again.' }) })

export const decisions = [
  'inactive',
  'filtered_by_event',
  'filtered_by_level',
  'filtered_by_trigger',
  'queued',
  'delivered',
  'failed',
  'cancelled',
] as const
export const RunWebhook = t.Object(
  {
    webhookId: t.String(),
    url: t.String({ description: 'As it is written now.' }),
    decision: oneOf(decisions, { description: 'What was decided when the run ended, and what became of it.' }),
    reason: t.String({ description: 'The same in words.' }),
    delivery: maybe(Delivery),
  },
  { $id: 'RunWebhook' },
)
export type RunWebhook = Static<typeof RunWebhook>
