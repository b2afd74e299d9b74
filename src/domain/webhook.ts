import { type Static, Type as t } from '@sinclair/typebox'
import type { Level } from './log.ts'
import type { TriggerKind } from './workflow.ts'

/** Who is told when runs of a workflow end, and what they are told. */

/** Of one workflow. */
export const subscriptionsMax = 20

/** The most that a secret stays good after it was replaced. */
export const keepSecretMsMax = 86_400_000

const filterWords = (names: string) => ({
  minItems: 1,
  uniqueItems: true,
  expected: `a list of different ones of ${names}, not empty (left out, it is all of them)`,
})

/** A subscription as it is saved: in a document's `webhooks`, and by the editor. What is left out has its default. */
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
    /** Left out: the stored one of this `id` stays. Null: there is none. */
    secret: t.Optional(t.Union([t.String({ minLength: 1, maxLength: 1_000 }), t.Null()], { expected: secretWords() })),
    includeFinalOutput: t.Optional(t.Boolean()),
    includeTraceSpans: t.Optional(t.Boolean()),
    includeRateLimits: t.Optional(t.Boolean()),
    includeUsageData: t.Optional(t.Boolean()),
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

/** What a payload may hold beyond the facts of a run, as bits: that is how deliveries keep it. */
export const include = { finalOutput: 1, traceSpans: 2, rateLimits: 4, usage: 8 } as const

/** A subscription as it is stored. Times are epoch milliseconds. */
export type SubscriptionRow = {
  /** Never given twice; deliveries go by it. */
  number: number
  /** Unique in its workflow, and taken as it came: a document that is copied keeps its ids. */
  id: string
  workflowId: string
  workspaceId: string
  /** May hold `{{NAME}}`. */
  url: string
  /**
   * Sealed, for `secretContext`; may hold `{{NAME}}` once opened. Null: deliveries are not signed. One that does not open
   * (empty, when its key was lost) has to be set anew before anything can be delivered.
   */
  secret: Uint8Array | null
  /** The secret before the last rotation, as good as the present one until a time. */
  previousSecret: Uint8Array | null
  previousSecretUntil: number | null
  /** Bits of `include`. */
  include: number
  /** Null: every one. */
  levelFilter: readonly Level[] | null
  triggerFilter: readonly TriggerKind[] | null
  active: boolean
  retryOnNetworkError: boolean
  createdAt: number
  updatedAt: number
  /** A deleted one stays for its deliveries, which go on. */
  deletedAt: number | null
}

/** What somebody chooses of a subscription. */
export type SubscriptionOptions = Pick<
  SubscriptionRow,
  'url' | 'include' | 'levelFilter' | 'triggerFilter' | 'active' | 'retryOnNetworkError'
>

/** A subscription to be saved. `secret` absent: the stored one of its id stays; null: there is none from now on. */
export type NewSubscription = SubscriptionOptions & { id: string; secret?: Uint8Array | null }

/**
 * A change of one; what is absent stays, so that two who change different things at once both have what they want.
 * `include`: bits to set and to clear. `keepSecretUntil`: the secret that is replaced stays good until then.
 */
export type SubscriptionChange = Partial<Omit<SubscriptionOptions, 'include'>> & {
  include?: { set: number; clear: number }
  secret?: Uint8Array | null
  keepSecretUntil?: number
}

/** A subscription as it is shown: everything but its secrets. */
export type ShownSubscription = Omit<Required<Subscription>, 'secret' | 'levelFilter' | 'triggerFilter'> &
  Pick<Subscription, 'levelFilter' | 'triggerFilter'>

/** The choices in a subscription as it is saved, defaults filled in. */
export function optionsOf(subscription: Subscription): SubscriptionOptions {
  const { url, levelFilter, triggerFilter, active = true, retryOnNetworkError = false } = subscription
  const bits = includeMembers.reduce((sum, [name, bit]) => (subscription[name] ? sum | bit : sum), 0)
  const filters = { levelFilter: levelFilter ?? null, triggerFilter: triggerFilter ?? null }
  return { url, include: bits, ...filters, active, retryOnNetworkError }
}

/** A change as it is sent; null takes a filter or the secret away, and sets anything else back to its default. */
export type SubscriptionPatch = { [Name in Exclude<keyof Subscription, 'id' | 'url'>]?: Subscription[Name] | null } & {
  url?: string
}

/** The choices in a change. */
export function choicesIn(patch: Omit<SubscriptionPatch, 'secret'>): Omit<SubscriptionChange, 'secret'> {
  const { url, levelFilter, triggerFilter, active, retryOnNetworkError } = patch
  const bitsOf = (isSought: (value: boolean | null) => boolean) =>
    includeMembers.reduce((sum, [name, bit]) => {
      const value = patch[name]
      return value !== undefined && isSought(value) ? sum | bit : sum
    }, 0)
  return {
    ...(url === undefined ? {} : { url }),
    ...(levelFilter === undefined ? {} : { levelFilter }),
    ...(triggerFilter === undefined ? {} : { triggerFilter }),
    ...(active === undefined ? {} : { active: active ?? true }),
    ...(retryOnNetworkError === undefined ? {} : { retryOnNetworkError: retryOnNetworkError ?? false }),
    include: { set: bitsOf((value) => value === true), clear: bitsOf((value) => value !== true) },
  }
}

/** A subscription as it is saved, of the stored one. */
export function shownOf(row: Pick<SubscriptionRow, 'id'> & SubscriptionOptions): ShownSubscription {
  const { id, url, levelFilter, triggerFilter, active, retryOnNetworkError } = row
  return {
    id,
    url,
    includeFinalOutput: (row.include & include.finalOutput) !== 0,
    includeTraceSpans: (row.include & include.traceSpans) !== 0,
    includeRateLimits: (row.include & include.rateLimits) !== 0,
    includeUsageData: (row.include & include.usage) !== 0,
    ...(levelFilter ? { levelFilter: [...levelFilter] } : {}),
    ...(triggerFilter ? { triggerFilter: [...triggerFilter] } : {}),
    active,
    retryOnNetworkError,
  }
}

const includeMembers = [
  ['includeFinalOutput', include.finalOutput],
  ['includeTraceSpans', include.traceSpans],
  ['includeRateLimits', include.rateLimits],
  ['includeUsageData', include.usage],
] as const

/** What a sealed secret is bound to. */
export function secretContext(workspaceId: string, id: string): string {
  return `webhook/${workspaceId}/${id}`
}
