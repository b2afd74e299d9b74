import {
  type AlertChange,
  type AlertRow,
  alertBounds,
  type EventRegistration,
  receiverOf,
} from '../../../domain/alert/alert.ts'
import { newId } from '../../../domain/ids.ts'
import type { ListedAlert, NewAlert } from '../../alerts/alert-store.ts'
import {
  alertRowOf,
  changedOptions,
  channelValues,
  eventBits,
  isRegistered,
  listedOf,
  type SqlAlert,
  type SqlListed,
} from '../../alerts/stored-alerts.ts'
import { unknownWorkspace } from '../../errors/account-errors.ts'
import { tooManyAlerts, unknownAlert, unknownAlertWorkflow } from '../../errors/alert-errors.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { commitOrderOf } from '../logs/commit-order.ts'

export async function listAlerts(sql: Sql, workspaceId: string): Promise<ListedAlert[]> {
  const rows = await sql.all<SqlListed>(`${selectListed} WHERE ${ofWorkspace} ORDER BY a.number`, storable(workspaceId))
  return rows.map(listedOf)
}

export async function getAlert(sql: Sql, workspaceId: string, id: string): Promise<ListedAlert | undefined> {
  const text = `${selectListed} WHERE ${ofWorkspace} AND a.id = $2`
  const row = await sql.get<SqlListed>(text, storable(workspaceId), storable(id))
  return row && listedOf(row)
}

export async function findAlerts(sql: Sql, numbers: readonly number[]): Promise<AlertRow[]> {
  const text = `${select} WHERE a.number = ANY($1::integer[]) ORDER BY a.number`
  return (await sql.all<SqlAlert>(text, listOf(numbers))).map(alertRowOf)
}

export async function createAlert(sql: Sql, alert: NewAlert): Promise<ListedAlert> {
  const { id, workspaceId, name, events, workflows, rule, quietMs, channel, active, at, by } = alert
  const found = await sql.get<{ number: number }>(
    'SELECT number FROM millrace.workspaces WHERE id = $1',
    storable(workspaceId),
  )
  if (!found) throw unknownWorkspace(workspaceId)
  const workspace = found.number
  const { count } = (await sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM millrace.alerts WHERE workspace = $1 AND deleted_at IS NULL AND starts IS NULL',
    workspace,
  ))!
  if (count >= alertBounds.perWorkspaceMax) throw tooManyAlerts()
  const { number } = (await sql.get<{ number: number }>(
    insert,
    ...[workspace, id, null, storable(name), eventBits(events), workflows === 'all', rule && JSON.stringify(rule)],
    ...[quietMs, ...channelValues(channel), active, at, by],
  ))!
  await nameWorkflows(sql, { alert: number, workspace, workflows })
  await begin(sql, number, at)
  await keepCursor(sql, workspace, at)
  return (await getAlert(sql, workspaceId, id))!
}

export async function changeAlert(
  sql: Sql,
  workspaceId: string,
  id: string,
  change: AlertChange,
  at: number,
): Promise<ListedAlert> {
  const before = await getAlert(sql, workspaceId, id)
  if (!before) throw unknownAlert()
  const { after, beginsAnew } = changedOptions(before, change)
  const { name, events, workflows, rule, quietMs, channel, active } = after
  const row = await sql.get<{ workspace: number }>(
    update,
    ...[storable(name), eventBits(events), workflows === 'all', rule && JSON.stringify(rule), quietMs],
    ...[...channelValues(channel), active, at, before.number],
  )
  const { workspace } = row!
  if (beginsAnew) {
    if (change.workflows) await nameWorkflows(sql, { alert: before.number, workspace, workflows })
    await begin(sql, before.number, at)
  }
  // Nothing evaluates an inactive alert, so its rule `no_activity` would stay due for ever.
  if (!active) await sql.run('DELETE FROM millrace.alert_states WHERE alert = $1', before.number)
  await keepCursor(sql, workspace, at)
  return (await getAlert(sql, workspaceId, id))!
}

export async function deleteAlert(sql: Sql, workspaceId: string, id: string, at: number): Promise<boolean> {
  const alert = await sql.get<{ number: number; workspace: number }>(
    `SELECT a.number, a.workspace FROM millrace.alerts a WHERE ${ofWorkspace} AND a.id = $2`,
    storable(workspaceId),
    storable(id),
  )
  if (!alert) return false
  await remove(sql, alert.number, at)
  await keepCursor(sql, alert.workspace, at)
  return true
}

/** `at`: null when nothing is registered. */
type Registering = { workflow: number; at: number | null }

/** Replaces the event trigger of a workflow's active version. One that stays as it was keeps what it has counted. */
export async function registerEvents(
  sql: Sql,
  { workflow, at }: Registering,
  registration: EventRegistration | null,
): Promise<void> {
  const before = await sql.get<SqlAlert>(`${select} WHERE a.starts = $1 AND a.deleted_at IS NULL`, workflow)
  if (!before && !registration) return
  const owner = (await sql.get<{ workspace: number; name: string }>(selectOwner, workflow))!
  if (before && registration && isRegistered(alertRowOf(before), registration)) return
  if (before) await remove(sql, before.number, at)
  if (registration && at !== null) {
    const { events, workflows, rule, quietMs } = registration
    const { number } = (await sql.get<{ number: number }>(
      insert,
      ...[owner.workspace, newId(), workflow, owner.name, eventBits(events), workflows === 'all'],
      ...[rule && JSON.stringify(rule), quietMs, 'run', null, null, null, true, at, null],
    ))!
    await nameWorkflows(sql, { alert: number, workspace: owner.workspace, workflows }, false)
    await begin(sql, number, at)
  }
  await keepCursor(sql, owner.workspace, at ?? 0)
}

/** Forgets a deleted workflow, so that no rule waits for its runs. */
export async function forgetAlertStates(sql: Sql, workflowId: string): Promise<void> {
  await sql.run(
    'DELETE FROM millrace.alert_states WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $1)',
    storable(workflowId),
  )
}

async function nameWorkflows(
  sql: Sql,
  { alert, workspace, workflows }: { alert: number; workspace: number; workflows: readonly string[] | 'all' },
  mustExist = true,
): Promise<void> {
  await sql.run('DELETE FROM millrace.alert_workflows WHERE alert = $1', alert)
  if (workflows === 'all') return
  const ids = [...new Set(workflows)]
  const named = await sql.all<{ id: string }>(insertNames, alert, listOf(ids.map(storable)), workspace)
  const missing = ids.find((id) => !named.some((each) => each.id === id))
  if (missing !== undefined && mustExist) throw unknownAlertWorkflow(missing)
}

/** Forgets what an alert has counted. A rule `no_activity` begins to wait if the alert is active. */
async function begin(sql: Sql, alert: number, at: number): Promise<void> {
  const reset = 'UPDATE millrace.alerts SET since = $1::bigint, quiet_until = NULL, suppressed = 0 WHERE number = $2'
  await sql.run(reset, at, alert)
  await sql.run('DELETE FROM millrace.alert_states WHERE alert = $1', alert)
  await sql.run(waitForRuns, at, alert)
}

async function remove(sql: Sql, alert: number, at: number | null): Promise<void> {
  await sql.run('DELETE FROM millrace.alert_states WHERE alert = $1', alert)
  await sql.run('DELETE FROM millrace.alert_workflows WHERE alert = $1', alert)
  await sql.run(
    'UPDATE millrace.alerts SET deleted_at = coalesce($1::bigint, since), active = false WHERE number = $2',
    at,
    alert,
  )
}

/** An evaluation in progress is refused after a change. Revisions begin with the time, so that none comes twice. */
async function keepCursor(sql: Sql, workspace: number, at: number): Promise<void> {
  const isWatched = await sql.get(
    'SELECT 1 FROM millrace.alerts WHERE workspace = $1 AND deleted_at IS NULL AND active LIMIT 1',
    workspace,
  )
  if (isWatched) {
    await sql.run(putCursor, workspace, at)
    return
  }
  await sql.run('DELETE FROM millrace.alert_cursors WHERE workspace = $1', workspace)
  await sql.run(deleteDropped, workspace)
  await sql.run('DELETE FROM millrace.workspace_events WHERE workspace = $1', workspace)
}

const ofWorkspace =
  'a.workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND a.starts IS NULL AND a.deleted_at IS NULL'

const columns = `
  a.number, a.id, w.id AS "workspaceId", a.name, a.events, a.watches_all AS "watchesAll", a.rule,
  a.quiet_ms AS "quietMs", a.channel, a.url, a.secret, a.recipients, a.active, a.created_at AS "createdAt",
  a.updated_at AS "updatedAt", a.fired_at AS "firedAt", a.quiet_until AS "quietUntil", a.suppressed,
  (SELECT coalesce(json_agg(f.id ORDER BY f.number), '[]')::text
    FROM millrace.alert_workflows n JOIN millrace.workflows f ON f.number = n.workflow
    WHERE n.alert = a.number AND f.deleted_at IS NULL) AS "workflowIds"`

const select = `SELECT ${columns} FROM millrace.alerts a JOIN millrace.workspaces w ON w.number = a.workspace`

const selectListed = `
  SELECT ${columns}, d.state AS "deliveryState", t.failure_message AS problem
  FROM millrace.alerts a JOIN millrace.workspaces w ON w.number = a.workspace
    LEFT JOIN millrace.deliveries d ON d.sequence = a.fired_sequence AND d.subscription = a.number + ${receiverOf(0)}
    LEFT JOIN millrace.delivery_attempts t
      ON t.sequence = d.sequence AND t.subscription = d.subscription AND t.number = d.attempts`

const insert = `
  INSERT INTO millrace.alerts (workspace, id, starts, name, events, watches_all, rule, quiet_ms, channel, url, secret,
    recipients, active, created_at, updated_at, since, updated_by)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8::bigint, $9, $10, $11, $12, $13, $14::bigint, $14::bigint, $14::bigint, $15)
  RETURNING number`

const update = `
  UPDATE millrace.alerts SET name = $1, events = $2, watches_all = $3, rule = $4, quiet_ms = $5::bigint, channel = $6,
    url = $7, secret = $8, recipients = $9, active = $10, updated_at = $11::bigint
  WHERE number = $12 RETURNING workspace`

const selectOwner = 'SELECT workspace, name FROM millrace.workflows WHERE number = $1'

const insertNames = `
  WITH named AS (
    INSERT INTO millrace.alert_workflows
    SELECT $1::integer, number FROM millrace.workflows
    WHERE id = ANY($2::text[]) AND workspace = $3 AND deleted_at IS NULL
    RETURNING workflow
  )
  SELECT f.id FROM named JOIN millrace.workflows f ON f.number = named.workflow`

const waitForRuns = `
  INSERT INTO millrace.alert_states (alert, workflow, workspace, content, due_at)
  SELECT a.number, coalesce(n.workflow, 0), a.workspace, '{}', $1::bigint + (a.rule::json ->> 'windowMs')::bigint
  FROM millrace.alerts a LEFT JOIN millrace.alert_workflows n ON n.alert = a.number AND NOT a.watches_all
  WHERE a.number = $2 AND a.active AND a.rule::json ->> 'type' = 'no_activity' AND (a.watches_all OR n.workflow IS NOT NULL)`

// Entries of transactions that are still open come later. What ended before an alert existed does not count for it.
const putCursor = `
  INSERT INTO millrace.alert_cursors (workspace, revision, commit_order, sequence)
  VALUES ($1, $2::bigint, ${commitOrderOf('pg_snapshot_xmin(pg_current_snapshot())')} - 1, ${Number.MAX_SAFE_INTEGER})
  ON CONFLICT (workspace) DO UPDATE SET revision = alert_cursors.revision + 1`

// Starts that were given up, and that wait for the events of the workspace.
const deleteDropped = `
  DELETE FROM millrace.event_runs WHERE NOT waiting AND content = '' AND workflow IN (
    SELECT number FROM millrace.workflows WHERE workspace = $1)`
