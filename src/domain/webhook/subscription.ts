import { type Static, Type as t } from '@sinclair/typebox'
import { type RunEventKind, runEvents } from './run-event.ts'

/** Webhook subscriptions: who is notified about a workflow's runs, which runs and events count, and what is sent. */

/** The maximum number per workflow. */
export const subscriptionsMax = 20

/** The longest time that a rotated secret stays valid. */
export const keepSecretMsMax = 86_400_000

const filterWords = (names: string) => ({
  minItems: 1,
  uniqueItems: true,
  expected: `a list of different ones of ${names}, not empty (left out, it is all of them)`,
})

/** A subscription as clients save it, in a document's `webhooks` or in the editor. Absent members have defaults. */
export const Subscription = t.Object(
  {
    id: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[A-Za-z0-9_-]+$',
        expected: 'letters, digits, "-" and "_" only',
      }),
    ),
    url: t.String({ minLength: 1, maxLength: 2_000 }),
    /** Absent: the stored secret of this `id` stays. Null: no secret. */
    secret: t.Optional(t.Union([t.String({ minLength: 1, maxLength: 1_000 }), t.Null()], { expected: secretWords() })),
    includeFinalOutput: t.Optional(t.Boolean()),
    includeTraceSpans: t.Optional(t.Boolean()),
    includeRateLimits: t.Optional(t.Boolean()),
    includeUsageData: t.Optional(t.Boolean()),
    events: t.Optional(
      t.Array(t.Union([t.Literal('completed'), t.Literal('paused'), t.Literal('resumed')]), {
        minItems: 1,
        uniqueItems: true,
        expected: 'a non-empty list of "completed", "paused" or "resumed", without duplicates (default: "completed")',
      }),
    ),
    levelFilter: t.Optional(
      t.Array(t.Union([t.Literal('info'), t.Literal('error')]), filterWords('"info" and "error"')),
    ),
    triggerFilter: t.Optional(
      t.Array(
        t.Union([
          t.Literal('api'),
          t.Literal('webhook'),
          t.Literal('schedule'),
          t.Literal('manual'),
          t.Literal('chat'),
        ]),
        filterWords('"api", "webhook", "schedule", "manual" and "chat"'),
      ),
    ),
    active: t.Optional(t.Boolean()),
    retryOnNetworkError: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
)
export type Subscription = Static<typeof Subscription>

function secretWords(): string {
  return 'a text of 1 to 1000 characters, or null for none'
}

/** The optional parts of a payload as bits, which is how deliveries store them. */
export const include = { finalOutput: 1, traceSpans: 2, rateLimits: 4, usage: 8 } as const

/** A stored subscription. Times are in epoch milliseconds. */
export type SubscriptionRow = {
  /** Never used twice. Deliveries refer to it. */
  number: number
  /** Unique within its workflow and never changed by the service: a copied document keeps its IDs. */
  id: string
  workflowId: string
  workspaceId: string
  /** May contain `{{NAME}}`. */
  url: string
  /**
   * Encrypted for `secretContext`; may contain `{{NAME}}` after decryption. Null: deliveries are not signed. If it
   * cannot be decrypted (it is empty when its key was lost), it must be set again before anything can be delivered.
   */
  secret: Uint8Array | null
  /** The secret before the last rotation. It stays valid for a limited time. */
  previousSecret: Uint8Array | null
  previousSecretUntil: number | null
  /** Bits of `include`. */
  include: number
  events: readonly RunEventKind[]
  /** Null: all levels. */
  levelFilter: Readonly<NonNullable<Subscription['levelFilter']>> | null
  triggerFilter: Readonly<NonNullable<Subscription['triggerFilter']>> | null
  active: boolean
  retryOnNetworkError: boolean
  createdAt: number
  updatedAt: number
  /** A deleted subscription stays until its deliveries have ended. */
  deletedAt: number | null
}

/** The options of a subscription that a user chooses. */
export type SubscriptionOptions = Pick<
  SubscriptionRow,
  'url' | 'include' | 'events' | 'levelFilter' | 'triggerFilter' | 'active' | 'retryOnNetworkError'
>

/** A subscription to save. `secret` absent: the stored secret of its ID stays; null: it is removed. */
export type NewSubscription = SubscriptionOptions & { id: string; secret?: Uint8Array | null }

/**
 * A change to a subscription. Absent members stay, so that two people can change different members at the same time.
 * `include`: bits to set and to clear. `keepSecretUntil`: how long the replaced secret stays valid.
 */
export type SubscriptionChange = Partial<Omit<SubscriptionOptions, 'include'>> & {
  include?: { set: number; clear: number }
  secret?: Uint8Array | null
  keepSecretUntil?: number
}

/** A subscription as the API shows it: without its secrets. */
export type ShownSubscription = Omit<Required<Subscription>, 'secret' | 'levelFilter' | 'triggerFilter'> &
  Pick<Subscription, 'levelFilter' | 'triggerFilter'>

/** The options of a saved subscription, with defaults filled in. */
export function optionsOf(subscription: Subscription): SubscriptionOptions {
  const { url, events = defaultEvents, levelFilter, triggerFilter } = subscription
  const { active = true, retryOnNetworkError = false } = subscription
  const bits = includeMembers.reduce((sum, [name, bit]) => (subscription[name] ? sum | bit : sum), 0)
  const filters = { levelFilter: levelFilter ?? null, triggerFilter: triggerFilter ?? null }
  return { url, include: bits, events: inOrder(events), ...filters, active, retryOnNetworkError }
}

/** A change as clients send it. Null removes a filter or the secret, and resets any other member to its default. */
export type SubscriptionPatch = { [Name in Exclude<keyof Subscription, 'id' | 'url'>]?: Subscription[Name] | null } & {
  url?: string
}

/** The options in a change. */
export function choicesIn(patch: Omit<SubscriptionPatch, 'secret'>): Omit<SubscriptionChange, 'secret'> {
  const { url, events, levelFilter, triggerFilter, active, retryOnNetworkError } = patch
  const bitsOf = (isSought: (value: boolean | null) => boolean) =>
    includeMembers.reduce((sum, [name, bit]) => {
      const value = patch[name]
      return value !== undefined && isSought(value) ? sum | bit : sum
    }, 0)
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: inOrder(events ?? defaultEvents) }),
    ...(levelFilter === undefined ? {} : { levelFilter }),
    ...(triggerFilter === undefined ? {} : { triggerFilter }),
    ...(active === undefined ? {} : { active: active ?? true }),
    ...(retryOnNetworkError === undefined ? {} : { retryOnNetworkError: retryOnNetworkError ?? false }),
    include: { set: bitsOf((value) => value === true), clear: bitsOf((value) => value !== true) },
  }
}

/** The API form of a stored subscription. */
export function shownOf(row: Pick<SubscriptionRow, 'id'> & SubscriptionOptions): ShownSubscription {
  const { id, url, events, levelFilter, triggerFilter, active, retryOnNetworkError } = row
  return {
    id,
    url,
    includeFinalOutput: (row.include & include.finalOutput) !== 0,
    includeTraceSpans: (row.include & include.traceSpans) !== 0,
    includeRateLimits: (row.include & include.rateLimits) !== 0,
    includeUsageData: (row.include & include.usage) !== 0,
    events: [...events],
    ...(levelFilter ? { levelFilter: [...levelFilter] } : {}),
    ...(triggerFilter ? { triggerFilter: [...triggerFilter] } : {}),
    active,
    retryOnNetworkError,
  }
}

const defaultEvents = ['completed'] as const satisfies RunEventKind[]

function inOrder(events: readonly RunEventKind[]): RunEventKind[] {
  return runEvents.filter((event) => events.includes(event))
}

const includeMembers = [
  ['includeFinalOutput', include.finalOutput],
  ['includeTraceSpans', include.traceSpans],
  ['includeRateLimits', include.rateLimits],
  ['includeUsageData', include.usage],
] as const

/** The context to which the encryption of a secret is bound. */
export function secretContext(workspaceId: string, id: string): string {
  return `webhook/${workspaceId}/${id}`
}
