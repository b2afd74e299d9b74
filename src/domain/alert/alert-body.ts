import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'
import { AlertRule, alertBounds, eventLabels, eventTypes, quietMsDefault } from './alert.ts'

/** Alerts as clients send them. */

const closed = { additionalProperties: false }

export const AlertEvents = t.Array(oneOf(eventTypes, { labels: eventLabels }), {
  uniqueItems: true,
  maxItems: eventTypes.length,
  title: 'Events',
  expected: `a list of different ones of ${eventTypes.map((type) => `"${type}"`).join(', ')}`,
})

export const AlertWorkflows = t.Union(
  [
    t.Literal('all'),
    t.Array(t.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: alertBounds.workflowsMax }),
  ],
  { title: 'Workflows', expected: `"all", or a list of 1 to ${alertBounds.workflowsMax} IDs of workflows` },
)

const WebhookChannel = t.Object(
  {
    type: t.Literal('webhook'),
    url: t.String({ minLength: 1, maxLength: 2_000, description: 'May contain `{{NAME}}`.' }),
    secret: t.Optional(
      t.Union([t.String({ minLength: 1, maxLength: 1_000 }), t.Null()], {
        expected: 'a text of 1 to 1000 characters, or null for none',
        description: 'Deliveries are signed with it. Absent in a change: the stored secret stays.',
      }),
    ),
  },
  closed,
)

const EmailChannel = t.Object(
  {
    type: t.Literal('email'),
    to: t.Array(t.String({ minLength: 3, maxLength: 254, pattern: '^[^\\s@,;<>]+@[^\\s@,;<>]+$' }), {
      minItems: 1,
      maxItems: alertBounds.recipientsMax,
      uniqueItems: true,
      expected: `a list of 1 to ${alertBounds.recipientsMax} e-mail addresses`,
    }),
  },
  closed,
)

const SentChannel = t.Union([WebhookChannel, EmailChannel], {
  expected: 'a channel: { "type": "webhook", "url", "secret" } or { "type": "email", "to" }',
})
export type SentChannel = Static<typeof SentChannel>

const members = {
  name: t.String({ minLength: 1, maxLength: 200 }),
  events: t.Optional(AlertEvents),
  workflows: AlertWorkflows,
  rule: t.Optional(t.Union([AlertRule, t.Null()])),
  quietMs: t.Optional(
    t.Integer({
      minimum: alertBounds.quietMsMin,
      maximum: alertBounds.quietMsMax,
      default: quietMsDefault,
      description: 'How long the alert stays quiet after a message, in milliseconds.',
    }),
  ),
  channel: SentChannel,
  active: t.Optional(t.Boolean({ default: true })),
}

export const NewAlertBody = t.Object(members, { ...closed, $id: 'NewAlert' })
export type NewAlertBody = Static<typeof NewAlertBody>
export const AlertPatch = t.Partial(t.Object(members), { ...closed, $id: 'AlertChange' })
export type AlertPatch = Static<typeof AlertPatch>

/** Why an alert can never fire; undefined when it can. */
export function watchProblem(
  events: readonly string[],
  rule: { type: string } | null,
): { path: string; message: string } | undefined {
  if (!rule) {
    if (events.length > 0) return undefined
    return { path: 'events', message: 'events must name at least one event, unless there is a rule.' }
  }
  const other = events.find((event) => event !== 'run.failed' && event !== 'run.succeeded')
  if (other === undefined) return undefined
  return {
    path: 'events',
    message: `A rule counts ended runs, so it cannot be combined with the event "${other}". Watch that event separately.`,
  }
}
