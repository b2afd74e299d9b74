import type { Level, RunRecord, RunWebhooks, SkipReason } from '../domain/run/log.ts'
import { include, type SubscriptionRow } from '../domain/webhook/subscription.ts'
import type { TriggerKind } from '../domain/workflow/workflow.ts'
import { type Limits, limitFactsText } from './payload.ts'

export type OutboxOptions = {
  subscriptionsOf(workflowId: string): readonly SubscriptionRow[] | Promise<readonly SubscriptionRow[]>
  /** The limits of the account that a workspace belongs to. */
  limitsOf(workspaceId: string): Promise<Limits>
}

/**
 * Says what a run that ended owes: undefined when its workflow has no subscriptions, at once when they are in memory and
 * none wants to know of limits. Rejects when the store cannot tell; then the run cannot be recorded.
 */
export function createOutbox({ subscriptionsOf, limitsOf }: OutboxOptions) {
  const decisions = new Decisions()
  const owed = (
    subscriptions: readonly SubscriptionRow[],
    record: OwingRun,
  ): RunWebhooks | undefined | Promise<RunWebhooks> => {
    if (subscriptions.length === 0) return undefined
    const decided = decisions.of(subscriptions, record.failure === null ? 'info' : 'error', record.trigger)
    if (!decided.wantsFacts) return decided.webhooks
    return limitsOf(record.workspaceId).then((limits) => ({ ...decided.webhooks, facts: limitFactsText(limits) }))
  }
  return (record: OwingRun): RunWebhooks | undefined | Promise<RunWebhooks | undefined> => {
    const subscriptions = subscriptionsOf(record.workflowId)
    return subscriptions instanceof Promise
      ? subscriptions.then((read) => owed(read, record))
      : owed(subscriptions, record)
  }
}

type OwingRun = Pick<RunRecord, 'workflowId' | 'workspaceId' | 'trigger' | 'failure'>

type Decided = { webhooks: RunWebhooks; wantsFacts: boolean }

/**
 * What was decided, as long as the subscriptions of a workflow are as they were: runs that owe alike share it, down to the
 * disk, where that is looked up once for all of a group.
 */
class Decisions {
  readonly #known = new WeakMap<readonly SubscriptionRow[], Map<string, Decided>>()

  of(subscriptions: readonly SubscriptionRow[], level: Level, trigger: TriggerKind): Decided {
    const byRun = this.#known.get(subscriptions) ?? new Map<string, Decided>()
    if (byRun.size === 0) this.#known.set(subscriptions, byRun)
    const key = `${level} ${trigger}`
    const known = byRun.get(key)
    if (known) return known
    const { deliveries, skipped } = decide(subscriptions, { level, trigger })
    const wantsFacts = deliveries.some((delivery) => delivery.include & (include.rateLimits | include.usage))
    const decided = { webhooks: { deliveries, skipped, facts: null }, wantsFacts: Boolean(wantsFacts) }
    byRun.set(key, decided)
    return decided
  }
}

/** Which subscriptions are told of a run. */
export function decide(
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
  { active, levelFilter, triggerFilter }: SubscriptionRow,
  { level, trigger }: { level: Level; trigger: TriggerKind },
): SkipReason | undefined {
  if (!active) return 'inactive'
  if (levelFilter && !levelFilter.includes(level)) return 'level'
  return triggerFilter && !triggerFilter.includes(trigger) ? 'trigger' : undefined
}
