import { type Static, Type as t } from '@sinclair/typebox'

/** Events of a workspace, the alerts that tell people about them, and the triggers that start workflows for them. */

/** Stores keep the index of an event, so only append to this list. */
export const eventTypes = [
  'run.failed',
  'run.succeeded',
  'run.paused',
  'workflow.deployed',
  'credential.needs_sign_in',
  'approval.waiting',
  'backup.overdue',
  'limit.reached',
] as const
export type EventType = (typeof eventTypes)[number]

/** The names of the events for people. */
export const eventLabels: Readonly<Record<EventType, string>> = {
  'run.failed': 'A run fails',
  'run.succeeded': 'A run succeeds',
  'run.paused': 'A run pauses',
  'workflow.deployed': 'A version is deployed',
  'credential.needs_sign_in': 'A credential needs a sign-in',
  'approval.waiting': 'An approval waits',
  'backup.overdue': 'The backup is overdue',
  'limit.reached': 'A limit is reached',
}

/** The events that come from the log. */
export const runEndTypes: readonly EventType[] = ['run.failed', 'run.succeeded']

export const alertBounds = {
  perWorkspaceMax: 100,
  workflowsMax: 500,
  recipientsMax: 20,
  /** An alert sends one message at most in this time, so that a burst of failures is one message. */
  quietMsMin: 60_000,
  quietMsMax: 2_592_000_000,
  windowMsMin: 60_000,
  windowMsMax: 2_592_000_000,
  /** Runs that wait to be started by an event are dropped after this time. */
  startMsMax: 3_600_000,
}

export const quietMsDefault = 3_600_000

const windowMs = t.Integer({
  title: 'Window (ms)',
  minimum: alertBounds.windowMsMin,
  maximum: alertBounds.windowMsMax,
  expected: 'a whole number of milliseconds from 60000 (a minute) to 2592000000 (30 days)',
})
const closed = { additionalProperties: false }

/** The runs have to fit it before an alert fires. */
export const AlertRule = t.Union(
  [
    t.Object({ type: t.Literal('consecutive_failures'), count: t.Integer({ minimum: 1, maximum: 1_000 }) }, closed),
    t.Object(
      {
        type: t.Literal('failure_rate'),
        percent: t.Number({ exclusiveMinimum: 0, maximum: 100 }),
        windowMs,
        minRuns: t.Integer({ minimum: 1, maximum: 100_000 }),
      },
      closed,
    ),
    t.Object(
      {
        type: t.Literal('latency'),
        percentile: t.Number({ exclusiveMinimum: 0, maximum: 100 }),
        aboveMs: t.Number({ minimum: 0, maximum: 31_536_000_000 }),
        windowMs,
      },
      closed,
    ),
    t.Object({ type: t.Literal('cost'), usd: t.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }), windowMs }, closed),
    t.Object({ type: t.Literal('no_activity'), windowMs }, closed),
  ],
  {
    title: 'Rule',
    expected:
      'a rule: { "type": "consecutive_failures", "count" }, { "type": "failure_rate", "percent", "windowMs", ' +
      '"minRuns" }, { "type": "latency", "percentile", "aboveMs", "windowMs" }, { "type": "cost", "usd", "windowMs" } ' +
      'or { "type": "no_activity", "windowMs" }',
  },
)
export type AlertRule = Static<typeof AlertRule>

/** The events and workflows that an alert or an event trigger watches. */
export type Watch = {
  /** Empty when a rule decides alone. */
  events: readonly EventType[]
  /** IDs, or all workflows of the workspace. */
  workflows: readonly string[] | 'all'
  rule: AlertRule | null
  quietMs: number
}

/** Where an alert is sent. `secret`: encrypted for `secretContext`; null: deliveries are not signed. */
export type AlertChannel =
  | { type: 'webhook'; url: string; secret: Uint8Array | null }
  | { type: 'email'; to: readonly string[] }

/** A stored alert. Times are in epoch milliseconds. */
export type AlertRow = Watch & {
  /** Never used twice. Deliveries refer to it (`receiverOf`). */
  number: number
  id: string
  workspaceId: string
  name: string
  channel: AlertChannel
  active: boolean
  createdAt: number
  updatedAt: number
  /** Null: it has not fired. */
  firedAt: number | null
  quietUntil: number | null
  /** Events that the quiet time has suppressed since the last message. */
  suppressed: number
}

/** The options of an alert that people set. */
export type AlertOptions = Pick<AlertRow, 'name' | 'channel' | 'active'> & Watch

/** Changes to an alert; absent members stay. A channel replaces the former one, except that its secret may stay. */
export type AlertChange = Partial<Omit<AlertOptions, 'channel'>> & { channel?: NewChannel }
/** `secret` absent: the stored secret stays. */
export type NewChannel =
  | { type: 'webhook'; url: string; secret?: Uint8Array | null }
  | { type: 'email'; to: readonly string[] }

/** The registration of a version with an event trigger. */
export type EventRegistration = Watch

/** Deliveries to alerts have the numbers of subscriptions from here on, so that one outbox serves both. */
const firstReceiver = 1_000_000_000
export const receiverOf = (alert: number): number => firstReceiver + alert
export const isAlertReceiver = (subscription: number): boolean => subscription >= firstReceiver
export const alertOf = (receiver: number): number => receiver - firstReceiver
