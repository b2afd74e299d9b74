import { type Static, Type as t } from '@sinclair/typebox'
import { AlertRule } from '../../../domain/alert/alert.ts'
import { AlertEvents, AlertWorkflows } from '../../../domain/alert/alert-body.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { deliveryStates } from '../../../domain/webhook/delivery.ts'
import type { ListedAlert } from '../../../store/alerts/alert-store.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'

const Channel = t.Union([
  t.Object({
    type: t.Literal('webhook'),
    url: t.String(),
    secret: oneOf(['none', 'set', 'lost'], {
      description: '`lost`: it can no longer be decrypted, so nothing is delivered until it is set again.',
    }),
  }),
  t.Object({ type: t.Literal('email'), to: t.Array(t.String()) }),
])

const members = {
  id: t.String(),
  name: t.String(),
  events: AlertEvents,
  workflows: AlertWorkflows,
  rule: maybe(AlertRule),
  quietMs: t.Integer(),
  channel: Channel,
  active: t.Boolean(),
  lastFiredAt: maybe(Time),
  quietUntil: maybe(t.String({ format: 'date-time', description: 'Until then, it sends no message.' })),
  suppressed: t.Integer({ description: 'Events during the quiet time. The next message tells how many.' }),
  lastDelivery: maybe(
    t.Object(
      { state: oneOf(deliveryStates), error: maybe(t.String()) },
      { description: 'The delivery of the latest message. `error`: why its last attempt failed.' },
    ),
  ),
  createdAt: Time,
  updatedAt: Time,
}
export const AlertResponse = t.Object(members, { $id: 'Alert' })
export type AlertResponse = Static<typeof AlertResponse>
export const AlertList = listOf(t.Object(members))

export const AlertTestResult = t.Object(
  {
    delivered: t.Boolean(),
    status: maybe(t.Integer({ description: 'The status of the response; null when there was none.' })),
    error: maybe(t.Object({ code: t.String(), message: t.String() })),
    answer: maybe(t.String({ description: "The beginning of the response's body, at most 2 KB." })),
    body: t.String({ description: 'What was sent.' }),
  },
  { $id: 'AlertTestResult' },
)

export function alertResponse(alert: ListedAlert, now: number): AlertResponse {
  const { id, name, events, workflows, rule, quietMs, channel, active, firedAt, quietUntil, suppressed } = alert
  const isQuiet = quietUntil !== null && quietUntil > now
  return {
    ...{ id, name, rule, quietMs, active, suppressed, channel: channelOf(channel) },
    events: [...events],
    workflows: workflows === 'all' ? 'all' : [...workflows],
    lastFiredAt: firedAt === null ? null : isoTime(firedAt),
    quietUntil: isQuiet ? isoTime(quietUntil) : null,
    lastDelivery: alert.delivery && { state: alert.delivery.state, error: alert.delivery.problem },
    createdAt: isoTime(alert.createdAt),
    updatedAt: isoTime(alert.updatedAt),
  }
}

function channelOf(channel: ListedAlert['channel']): AlertResponse['channel'] {
  if (channel.type === 'email') return { type: 'email', to: [...channel.to] }
  const { url, secret } = channel
  return { type: 'webhook', url, secret: secret === null ? 'none' : secret.length === 0 ? 'lost' : 'set' }
}
