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
import { noteWorkflowChange } from '../cluster/changes.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'

const selectSubscriptions = `
  SELECT s.number, s.id, f.id AS "workflowId", w.id AS "workspaceId", s.url, s.secret,
    s.previous_secret AS "previousSecret", s.previous_secret_until AS "previousSecretUntil", s.include, s.events, s.levels,
    s.triggers, s.active, s.retry_on_network_error AS "retryOnNetworkError", s.created_at AS "createdAt",
    s.updated_at AS "updatedAt", s.deleted_at AS "deletedAt"
  FROM millrace.subscriptions s JOIN millrace.workflows f ON f.number = s.workflow
  JOIN millrace.workspaces w ON w.number = f.workspace`

/** Oldest first. Includes those of deleted workflows, because their runs may still end. */
export async function listSubscriptions(sql: Sql, workflowId: string): Promise<SubscriptionRow[]> {
  const rows = await sql.all<SqlSubscription>(
    `${selectSubscriptions} WHERE f.id = $1 AND s.deleted_at IS NULL ORDER BY s.number`,
    workflowId,
  )
  return rows.map(subscriptionOf)
}

export async function getSubscriptions(sql: Sql, numbers: readonly number[]): Promise<SubscriptionRow[]> {
  const rows = await sql.all<SqlSubscription>(
    `${selectSubscriptions} WHERE s.number = ANY ($1::bigint[]) ORDER BY s.number`,
    listOf(numbers),
  )
  return rows.map(subscriptionOf)
}

export async function createSubscription(
  sql: Sql,
  workflowId: string,
  subscription: NewSubscription,
  at: number,
): Promise<SubscriptionRow> {
  const workflow = await workflowNumber(sql, workflowId)
  if (await find(sql, workflowId, subscription.id)) throw subscriptionTaken(subscription.id)
  await put(sql, workflow, [subscription], at)
  await assertWithinBounds(sql, workflow)
  return (await find(sql, workflowId, subscription.id))!
}

export async function changeSubscription(
  sql: Sql,
  workflowId: string,
  id: string,
  change: SubscriptionChange,
  at: number,
): Promise<SubscriptionRow> {
  const workflow = await workflowNumber(sql, workflowId)
  const before = await find(sql, workflowId, id)
  if (!before) throw subscriptionNotFound()
  const { keepSecretUntil, include, ...options } = change
  // Without `secret` in the change, the stored one stays as it is, and so does the previous one.
  const { secret: _, ...kept } = before
  const bits = (before.include | (include?.set ?? 0)) & ~(include?.clear ?? 0)
  await put(sql, workflow, [{ ...kept, ...options, include: bits }], at)
  if (options.secret && before.secret && keepSecretUntil !== undefined) {
    await sql.run(
      'UPDATE millrace.subscriptions SET previous_secret = $1, previous_secret_until = $2::bigint WHERE number = $3',
      before.secret,
      keepSecretUntil,
      before.number,
    )
  }
  return (await find(sql, workflowId, id))!
}

/** Marks the row as deleted. Its pending deliveries continue. */
export async function deleteSubscription(sql: Sql, workflowId: string, id: string, at: number): Promise<boolean> {
  const deleted = await sql.run(
    `UPDATE millrace.subscriptions SET deleted_at = $1::bigint
     WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $2) AND id = $3 AND deleted_at IS NULL`,
    at,
    workflowId,
    storable(id),
  )
  return deleted > 0
}

/** Saves these subscriptions and deletes all others of the workflow. */
export async function replaceSubscriptions(
  sql: Sql,
  workflowId: string,
  subscriptions: readonly NewSubscription[],
  at: number,
): Promise<void> {
  const workflow = await workflowNumber(sql, workflowId)
  await sql.run(
    `UPDATE millrace.subscriptions SET deleted_at = $1::bigint
     WHERE workflow = $2 AND deleted_at IS NULL AND id <> ALL ($3::text[])`,
    at,
    workflow,
    listOf(subscriptions.map(({ id }) => storable(id))),
  )
  await put(sql, workflow, subscriptions, at)
  await assertWithinBounds(sql, workflow)
  await noteWorkflowChange(sql, workflowId)
}

/**
 * Inserts or updates subscriptions. A deleted one returns with its number and its secret, so that undoing a change
 * restores everything. A new secret invalidates the previous one.
 */
async function put(sql: Sql, workflow: number, subscriptions: readonly NewSubscription[], at: number): Promise<void> {
  if (subscriptions.length === 0) return
  const rows = subscriptions.map((subscription) => ({
    id: storable(subscription.id),
    url: storable(subscription.url),
    include: subscription.include,
    events: bitsOf(runEvents, subscription.events),
    levels: bitsOf(levels, subscription.levelFilter),
    triggers: bitsOf(triggers, subscription.triggerFilter),
    active: subscription.active,
    retry: subscription.retryOnNetworkError,
  }))
  await sql.run(insertOrUpdate, workflow, rowsOf(rows), at)
  const secrets = subscriptions.flatMap(({ id, secret }) =>
    secret === undefined ? [] : [{ id: storable(id), secret }],
  )
  if (secrets.length > 0) await sql.run(setSecrets, workflow, rowsOf(secrets))
}

const insertOrUpdate = `
  INSERT INTO millrace.subscriptions AS s
    (workflow, id, url, include, events, levels, triggers, active, retry_on_network_error, created_at, updated_at)
  SELECT $1::integer, r.id, r.url, r.include, r.events, r.levels, r.triggers, r.active, r.retry, $3::bigint, $3::bigint
  FROM json_to_recordset($2::text::json) AS r (
    id text, url text, include integer, events integer, levels integer, triggers integer, active boolean, retry boolean)
  ON CONFLICT (workflow, id) DO UPDATE SET url = excluded.url, include = excluded.include,
    events = excluded.events, levels = excluded.levels,
    triggers = excluded.triggers, active = excluded.active, retry_on_network_error = excluded.retry_on_network_error,
    updated_at = excluded.updated_at, deleted_at = NULL,
    created_at = CASE WHEN s.deleted_at IS NULL THEN s.created_at ELSE excluded.created_at END`

const setSecrets = `
  UPDATE millrace.subscriptions s
  SET secret = decode(r.secret, 'base64'), previous_secret = NULL, previous_secret_until = NULL
  FROM json_to_recordset($2::text::json) AS r (id text, secret text)
  WHERE s.workflow = $1 AND s.id = r.id AND s.secret IS DISTINCT FROM decode(r.secret, 'base64')`

async function find(sql: Sql, workflowId: string, id: string): Promise<SubscriptionRow | undefined> {
  const row = await sql.get<SqlSubscription>(
    `${selectSubscriptions} WHERE f.id = $1 AND s.id = $2 AND s.deleted_at IS NULL`,
    workflowId,
    storable(id),
  )
  return row && subscriptionOf(row)
}

async function workflowNumber(sql: Sql, id: string): Promise<number> {
  const row = await sql.get<{ number: number }>(
    'SELECT number FROM millrace.workflows WHERE id = $1 AND deleted_at IS NULL',
    id,
  )
  if (!row) throw workflowNotFound(id)
  return row.number
}

/** Call this after the write, in the same transaction: an error rolls the write back. */
async function assertWithinBounds(sql: Sql, workflow: number): Promise<void> {
  const { count } = (await sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM millrace.subscriptions WHERE workflow = $1 AND deleted_at IS NULL',
    workflow,
  )) ?? { count: 0 }
  if (count > subscriptionsMax) throw tooManySubscriptions()
}

type SqlSubscription = Omit<SubscriptionRow, 'events' | 'levelFilter' | 'triggerFilter'> &
  Record<'events' | 'levels' | 'triggers', number>

function subscriptionOf({ levels: levelBits, triggers: triggerBits, ...row }: SqlSubscription): SubscriptionRow {
  return {
    ...row,
    events: membersOf<RunEventKind>(runEvents, row.events) ?? [],
    levelFilter: membersOf<Level>(levels, levelBits),
    triggerFilter: membersOf<TriggerKind>(triggers, triggerBits),
  }
}
