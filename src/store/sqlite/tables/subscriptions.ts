import type { Level } from '../../../domain/run/log.ts'
import { type RunEventKind, runEvents } from '../../../domain/webhook/run-event.ts'
import {
  type NewSubscription,
  type SubscriptionChange,
  type SubscriptionRow,
  subscriptionsMax,
} from '../../../domain/webhook/subscription.ts'
import type { TriggerKind } from '../../../domain/workflow/workflow.ts'
import {
  subscriptionNotFound,
  subscriptionTaken,
  tooManySubscriptions,
  workflowNotFound,
} from '../../errors/workflow-errors.ts'
import { bitsOf, membersOf } from '../../filter-bits.ts'
import { levels, triggers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'

const selectSubscriptions = `
  SELECT s.number, s.id, f.id AS workflowId, w.id AS workspaceId, s.url, s.secret, s.previous_secret AS previousSecret,
    s.previous_secret_until AS previousSecretUntil, s.include, s.events, s.levels, s.triggers, s.active,
    s.retry_on_network_error AS retryOnNetworkError, s.created_at AS createdAt, s.updated_at AS updatedAt,
    s.deleted_at AS deletedAt
  FROM subscriptions s JOIN workflows f ON f.number = s.workflow JOIN workspaces w ON w.number = f.workspace`

/** Oldest first. Includes those of deleted workflows, because their runs may still end. */
export function listSubscriptions(sql: Sql, workflowId: string): SubscriptionRow[] {
  return sql
    .all<SqlSubscription>(
      `${selectSubscriptions} WHERE f.id = ? AND s.deleted_at IS NULL ORDER BY s.number`,
      workflowId,
    )
    .map(subscriptionOf)
}

export function getSubscriptions(sql: Sql, numbers: readonly number[]): SubscriptionRow[] {
  return sql
    .all<SqlSubscription>(
      `${selectSubscriptions} WHERE s.number IN (SELECT value FROM json_each(?)) ORDER BY s.number`,
      JSON.stringify(numbers),
    )
    .map(subscriptionOf)
}

export function createSubscription(
  sql: Sql,
  workflowId: string,
  subscription: NewSubscription,
  at: number,
): SubscriptionRow {
  const workflow = workflowNumber(sql, workflowId)
  if (find(sql, workflowId, subscription.id)) {
    throw subscriptionTaken(subscription.id)
  }
  put(sql, workflow, subscription, at)
  assertWithinBounds(sql, workflow)
  return find(sql, workflowId, subscription.id)!
}

export function changeSubscription(
  sql: Sql,
  workflowId: string,
  id: string,
  change: SubscriptionChange,
  at: number,
): SubscriptionRow {
  const workflow = workflowNumber(sql, workflowId)
  const before = find(sql, workflowId, id)
  if (!before) throw subscriptionNotFound()
  const { keepSecretUntil, include, ...options } = change
  put(
    sql,
    workflow,
    { ...before, ...options, include: (before.include | (include?.set ?? 0)) & ~(include?.clear ?? 0) },
    at,
  )
  if (options.secret && before.secret && keepSecretUntil !== undefined) {
    sql.run(
      'UPDATE subscriptions SET previous_secret = ?, previous_secret_until = ? WHERE number = ?',
      before.secret,
      keepSecretUntil,
      before.number,
    )
  }
  return find(sql, workflowId, id)!
}

/** Marks the row as deleted. Its pending deliveries continue. */
export function deleteSubscription(sql: Sql, workflowId: string, id: string, at: number): boolean {
  const before = find(sql, workflowId, id)
  return (
    before !== undefined && sql.run('UPDATE subscriptions SET deleted_at = ? WHERE number = ?', at, before.number) > 0
  )
}

/** Saves these subscriptions and deletes all others of the workflow. */
export function replaceSubscriptions(
  sql: Sql,
  workflowId: string,
  subscriptions: readonly NewSubscription[],
  at: number,
): void {
  const workflow = workflowNumber(sql, workflowId)
  sql.run(
    `UPDATE subscriptions SET deleted_at = ?
     WHERE workflow = ? AND deleted_at IS NULL AND id NOT IN (SELECT value FROM json_each(?))`,
    at,
    workflow,
    JSON.stringify(subscriptions.map(({ id }) => id)),
  )
  for (const subscription of subscriptions) put(sql, workflow, subscription, at)
  assertWithinBounds(sql, workflow)
}

/**
 * Inserts or updates a subscription. A deleted one returns with its number and its secret, so that undoing a change
 * restores everything. A new secret invalidates the previous one.
 */
function put(sql: Sql, workflow: number, { secret, ...options }: NewSubscription, at: number): void {
  sql.run(
    `INSERT INTO subscriptions
       (workflow, id, url, include, levels, triggers, active, retry_on_network_error, created_at, updated_at, events)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)
     ON CONFLICT (workflow, id) DO UPDATE SET url = ?3, include = ?4, levels = ?5, triggers = ?6, active = ?7,
       retry_on_network_error = ?8, updated_at = ?9, created_at = iif(deleted_at IS NULL, created_at, ?9),
       deleted_at = NULL, events = ?10`,
    workflow,
    options.id,
    options.url,
    options.include,
    bitsOf(levels, options.levelFilter),
    bitsOf(triggers, options.triggerFilter),
    options.active ? 1 : 0,
    options.retryOnNetworkError ? 1 : 0,
    at,
    bitsOf(runEvents, options.events),
  )
  if (secret === undefined) return
  sql.run(
    `UPDATE subscriptions SET secret = ?, previous_secret = NULL, previous_secret_until = NULL
     WHERE workflow = ? AND id = ? AND secret IS NOT ?1`,
    secret,
    workflow,
    options.id,
  )
}

function find(sql: Sql, workflowId: string, id: string): SubscriptionRow | undefined {
  const row = sql.get<SqlSubscription>(
    `${selectSubscriptions} WHERE f.id = ? AND s.id = ? AND s.deleted_at IS NULL`,
    workflowId,
    id,
  )
  return row && subscriptionOf(row)
}

function workflowNumber(sql: Sql, id: string): number {
  const row = sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL', id)
  if (!row) throw workflowNotFound(id)
  return row.number
}

/** Call this after the write, in the same transaction: an error rolls the write back. */
function assertWithinBounds(sql: Sql, workflow: number): void {
  const { count } = sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM subscriptions WHERE workflow = ? AND deleted_at IS NULL',
    workflow,
  ) ?? { count: 0 }
  if (count > subscriptionsMax) throw tooManySubscriptions()
}

type Flag = 'active' | 'retryOnNetworkError'
type SqlSubscription = Omit<SubscriptionRow, 'events' | 'levelFilter' | 'triggerFilter' | Flag> &
  Record<'events' | 'levels' | 'triggers' | Flag, number>

function subscriptionOf({ levels: levelBits, triggers: triggerBits, ...row }: SqlSubscription): SubscriptionRow {
  return {
    ...row,
    events: membersOf<RunEventKind>(runEvents, row.events) ?? [],
    levelFilter: membersOf<Level>(levels, levelBits),
    triggerFilter: membersOf<TriggerKind>(triggers, triggerBits),
    active: row.active === 1,
    retryOnNetworkError: row.retryOnNetworkError === 1,
  }
}
