import type { Level, RunRecord, RunWebhooks, SkipReason } from '../domain/run/log.ts'
import { include, type SubscriptionRow } from '../domain/webhook/subscription.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'
import { type Limits, limitFactsText } from './payload.ts'

export type OutboxOptions = {
  subscriptionsOf(workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]>
  /** The limits of the account that owns a workspace. */
  limitsOf(workspaceId: string): Promise<Limits>
}

/**
 * Resolves the pending deliveries of a run that ended: undefined when its workflow has no subscriptions. Synchronous
 * when the subscriptions are in memory and none includes limits. Rejects when the store cannot be read; then the run
 * cannot be recorded.
 */
export function createOutbox({ subscriptionsOf, limitsOf }: OutboxOptions) {
  const resolved = new ResolvedDeliveries()
  const deliveriesOf = (
    subscriptions: readonly SubscriptionRow[],
    record: EndedRun,
  ): RunWebhooks | undefined | Promise<RunWebhooks> => {
    if (subscriptions.length === 0) return undefined
    const found = resolved.of(subscriptions, record.failure === null ? 'info' : 'error', record.trigger)
    if (!found.wantsFacts) return found.webhooks
    return limitsOf(record.workspaceId).then((limits) => ({ ...found.webhooks, facts: limitFactsText(limits) }))
  }
  return (record: EndedRun): RunWebhooks | undefined | Promise<RunWebhooks | undefined> => {
    const subscriptions = subscriptionsOf(record.workflowId)
    return subscriptions instanceof Promise
      ? subscriptions.then((read) => deliveriesOf(read, record))
      : deliveriesOf(subscriptions, record)
  }
}

type EndedRun = Pick<RunRecord, 'workflowId' | 'workspaceId' | 'trigger' | 'failure'>

type Resolved = { webhooks: RunWebhooks; wantsFacts: boolean }

/**
 * Remembers the result as long as a workflow's subscriptions do not change. Runs with equal deliveries share one
 * object, so that the store looks it up once for a whole group.
 */
class ResolvedDeliveries {
  readonly #known = new WeakMap<readonly SubscriptionRow[], Map<string, Resolved>>()

  of(subscriptions: readonly SubscriptionRow[], level: Level, trigger: TriggerKind): Resolved {
    const byRun = this.#known.get(subscriptions) ?? new Map<string, Resolved>()
    if (byRun.size === 0) this.#known.set(subscriptions, byRun)
    const key = `${level} ${trigger}`
    const known = byRun.get(key)
    if (known) return known
    const { deliveries, skipped } = recipientsOf(subscriptions, { level, trigger })
    const wantsFacts = deliveries.some((delivery) => delivery.include & (include.rateLimits | include.usage))
    const made = { webhooks: { deliveries, skipped, facts: null }, wantsFacts: Boolean(wantsFacts) }
    byRun.set(key, made)
    return made
  }
}

/** The subscriptions that get a webhook for a run, and why the others are skipped. */
export function recipientsOf(
  subscriptions: readonly SubscriptionRow[],
  run: { level: Level; trigger: TriggerKind },
): Pick<RunWebhooks, 'deliveries' | 'skipped'> {
  const deliveries: { subscription: number; include: number }[] = []
  const skipped: { subscription: number; reason: SkipReason }[] = []
  for (const row of subscriptions) {
    const reason = reasonToSkip(row, run)
    if (reason === undefined) deliveries.push({ subscription: row.number, include: row.include })
    else skipped.push({ subscription: row.number, reason })
  }
  return { deliveries, skipped }
}

function reasonToSkip(
  { active, events, levelFilter, triggerFilter }: SubscriptionRow,
  { level, trigger }: { level: Level; trigger: TriggerKind },
): SkipReason | undefined {
  if (!active) return 'inactive'
  if (!events.includes('completed')) return 'event'
  if (levelFilter && !levelFilter.includes(level)) return 'level'
  return triggerFilter && !triggerFilter.includes(trigger) ? 'trigger' : undefined
}
