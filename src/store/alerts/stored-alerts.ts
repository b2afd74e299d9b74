import {
  type AlertChange,
  type AlertChannel,
  type AlertOptions,
  type AlertRow,
  type AlertRule,
  type EventRegistration,
  type EventType,
  eventTypes,
  type NewChannel,
} from '../../domain/alert/alert.ts'
import { deliveryStates } from '../../domain/webhook/delivery.ts'
import { bitsOf, membersOf } from '../filter-bits.ts'
import type { ListedAlert } from './alert-store.ts'

// Both stores do this in the same way with the rows of alerts.

/** The columns of an alert, as both stores read them. */
export type SqlAlert = Omit<AlertRow, 'events' | 'workflows' | 'rule' | 'channel' | 'active'> & {
  events: number
  watchesAll: number | boolean
  /** JSON: the IDs of the workflows that it names. */
  workflowIds: string
  rule: string | null
  channel: 'webhook' | 'email'
  url: string | null
  secret: Uint8Array | null
  recipients: string | null
  active: number | boolean
}

export function alertRowOf(row: SqlAlert): AlertRow {
  const { events, watchesAll, workflowIds, rule, channel, url, secret, recipients, active, ...rest } = row
  return {
    ...rest,
    events: eventsOf(events),
    workflows: watchesAll ? 'all' : (JSON.parse(workflowIds) as string[]),
    rule: ruleOf(rule),
    channel: channelOf({ channel, url, secret, recipients }),
    active: Boolean(active),
  }
}

export type SqlListed = SqlAlert & { deliveryState: number | null; problem: string | null }

export function listedOf({ deliveryState, problem, ...row }: SqlListed): ListedAlert {
  const delivery = deliveryState === null ? null : { state: deliveryStates[deliveryState]!, problem }
  return { ...alertRowOf(row), delivery }
}

export const eventsOf = (bits: number): EventType[] => membersOf<EventType>(eventTypes, bits) ?? []
export const eventBits = (events: readonly EventType[]): number => bitsOf(eventTypes, events)
export const ruleOf = (text: string | null): AlertRule | null =>
  text === null ? null : (JSON.parse(text) as AlertRule)

function channelOf({ channel, url, secret, recipients }: Pick<SqlAlert, 'channel' | 'url' | 'secret' | 'recipients'>) {
  if (channel === 'email') return { type: 'email', to: JSON.parse(recipients ?? '[]') as string[] } as const
  return { type: 'webhook', url: url ?? '', secret } satisfies AlertChannel
}

/** The values of the columns `channel`, `url`, `secret` and `recipients`. */
export function channelValues(channel: AlertChannel): [string, string | null, Uint8Array | null, string | null] {
  if (channel.type === 'email') return ['email', null, null, JSON.stringify(channel.to)]
  return ['webhook', channel.url, channel.secret, null]
}

/** The options after a change. `beginsAnew`: what the alert has counted no longer fits. */
export function changedOptions(before: AlertRow, change: AlertChange): { after: AlertOptions; beginsAnew: boolean } {
  const { channel: newChannel, ...rest } = change
  const after: AlertOptions = {
    ...{ name: before.name, active: before.active, events: before.events, workflows: before.workflows },
    ...{ rule: before.rule, quietMs: before.quietMs },
    ...rest,
    channel: newChannel ? mergedChannel(before.channel, newChannel) : before.channel,
  }
  const isSame = (name: 'events' | 'workflows' | 'rule') => Bun.deepEquals(before[name], after[name])
  const watchesOther = !isSame('events') || !isSame('workflows') || !isSame('rule')
  return { after, beginsAnew: watchesOther || (after.active && !before.active) }
}

function mergedChannel(before: AlertChannel, after: NewChannel): AlertChannel {
  if (after.type === 'email') return after
  const kept = before.type === 'webhook' ? before.secret : null
  return { type: 'webhook', url: after.url, secret: after.secret === undefined ? kept : after.secret }
}

/** Whether an event trigger stays as it was. */
export function isRegistered(before: AlertRow, { events, workflows, rule, quietMs }: EventRegistration): boolean {
  const known = Array.isArray(before.workflows) ? before.workflows.toSorted() : before.workflows
  const wanted = Array.isArray(workflows) ? workflows.toSorted() : workflows
  const isInOrder = before.events.length === events.length && before.events.every((event) => events.includes(event))
  return isInOrder && before.quietMs === quietMs && Bun.deepEquals(before.rule, rule) && Bun.deepEquals(known, wanted)
}
