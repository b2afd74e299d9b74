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
import type { Sql } from '../connection.ts'

export function listAlerts(sql: Sql, workspaceId: string): ListedAlert[] {
  return sql.all<SqlListed>(`${selectListed} WHERE ${ofWorkspace} ORDER BY a.number`, workspaceId).map(listedOf)
}

export function getAlert(sql: Sql, workspaceId: string, id: string): ListedAlert | undefined {
  const row = sql.get<SqlListed>(`${selectListed} WHERE ${ofWorkspace} AND a.id = ?`, workspaceId, id)
  return row && listedOf(row)
}

export function findAlerts(sql: Sql, numbers: readonly number[]): AlertRow[] {
  const text = `${select} WHERE a.number IN (SELECT value FROM json_each(?)) ORDER BY a.number`
  return sql.all<SqlAlert>(text, JSON.stringify(numbers)).map(alertRowOf)
}

export function createAlert(sql: Sql, alert: NewAlert): ListedAlert {
  const { id, workspaceId, name, events, workflows, rule, quietMs, channel, active, at, by } = alert
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)?.number
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  const { count } = sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM alerts WHERE workspace = ? AND deleted_at IS NULL AND starts IS NULL',
    workspace,
  )!
  if (count >= alertBounds.perWorkspaceMax) throw tooManyAlerts()
  const { number } = sql.get<{ number: number }>(
    insert,
    ...[workspace, id, null, name, eventBits(events), workflows === 'all' ? 1 : 0, rule && JSON.stringify(rule)],
    ...[quietMs, ...channelValues(channel), active ? 1 : 0, at, by],
  )!
  nameWorkflows(sql, { alert: number, workspace, workflows })
  begin(sql, number, at)
  keepCursor(sql, workspace, at)
  return getAlert(sql, workspaceId, id)!
}

export function changeAlert(sql: Sql, workspaceId: string, id: string, change: AlertChange, at: number): ListedAlert {
  const before = getAlert(sql, workspaceId, id)
  if (!before) throw unknownAlert()
  const { after, beginsAnew } = changedOptions(before, change)
  const { name, events, workflows, rule, quietMs, channel, active } = after
  sql.run(
    update,
    ...[name, eventBits(events), workflows === 'all' ? 1 : 0, rule && JSON.stringify(rule), quietMs],
    ...[...channelValues(channel), active ? 1 : 0, at, before.number],
  )
  const { workspace } = sql.get<{ workspace: number }>('SELECT workspace FROM alerts WHERE number = ?', before.number)!
  if (beginsAnew) {
    if (change.workflows) nameWorkflows(sql, { alert: before.number, workspace, workflows })
    begin(sql, before.number, at)
  }
  // Nothing evaluates an inactive alert, so its rule `no_activity` would stay due for ever.
  if (!active) sql.run('DELETE FROM alert_states WHERE alert = ?', before.number)
  keepCursor(sql, workspace, at)
  return getAlert(sql, workspaceId, id)!
}

export function deleteAlert(sql: Sql, workspaceId: string, id: string, at: number): boolean {
  const alert = sql.get<{ number: number; workspace: number }>(
    `SELECT a.number, a.workspace FROM alerts a WHERE ${ofWorkspace} AND a.id = ?`,
    workspaceId,
    id,
  )
  if (!alert) return false
  remove(sql, alert.number, at)
  keepCursor(sql, alert.workspace, at)
  return true
}

/** `at`: null when nothing is registered. */
type Registering = { workflow: number; at: number | null }

/** Replaces the event trigger of a workflow's active version. One that stays as it was keeps what it has counted. */
export function registerEvents(sql: Sql, { workflow, at }: Registering, registration: EventRegistration | null): void {
  const before = sql.get<SqlAlert & { workspace: number }>(
    `${select} WHERE a.starts = ? AND a.deleted_at IS NULL`,
    workflow,
  )
  if (!before && !registration) return
  const owner = sql.get<{ workspace: number; name: string }>(selectOwner, workflow)!
  if (before && registration && isRegistered(alertRowOf(before), registration)) return
  if (before) remove(sql, before.number, at)
  if (registration && at !== null) {
    const { events, workflows, rule, quietMs } = registration
    const { number } = sql.get<{ number: number }>(
      insert,
      ...[owner.workspace, newId(), workflow, owner.name, eventBits(events), workflows === 'all' ? 1 : 0],
      ...[rule && JSON.stringify(rule), quietMs, 'run', null, null, null, 1, at, null],
    )!
    nameWorkflows(sql, { alert: number, workspace: owner.workspace, workflows }, false)
    begin(sql, number, at)
  }
  keepCursor(sql, owner.workspace, at ?? 0)
}

/** Forgets a deleted workflow, so that no rule waits for its runs. */
export function forgetAlertStates(sql: Sql, workflowId: string): void {
  sql.run('DELETE FROM alert_states WHERE workflow = (SELECT number FROM workflows WHERE id = ?)', workflowId)
}

function nameWorkflows(
  sql: Sql,
  { alert, workspace, workflows }: { alert: number; workspace: number; workflows: readonly string[] | 'all' },
  mustExist = true,
): void {
  sql.run('DELETE FROM alert_workflows WHERE alert = ?', alert)
  if (workflows === 'all') return
  for (const id of new Set(workflows)) {
    const named = sql.run(
      'INSERT INTO alert_workflows SELECT ?, number FROM workflows WHERE id = ? AND workspace = ? AND deleted_at IS NULL',
      ...[alert, id, workspace],
    )
    if (named === 0 && mustExist) throw unknownAlertWorkflow(id)
  }
}

/** Forgets what an alert has counted. A rule `no_activity` begins to wait if the alert is active. */
function begin(sql: Sql, alert: number, at: number): void {
  sql.run('UPDATE alerts SET since = ?, quiet_until = NULL, suppressed = 0 WHERE number = ?', at, alert)
  sql.run('DELETE FROM alert_states WHERE alert = ?', alert)
  sql.run(waitForAll, at, alert)
  sql.run(waitForEach, at, alert)
}

function remove(sql: Sql, alert: number, at: number | null): void {
  sql.run('DELETE FROM alert_states WHERE alert = ?', alert)
  sql.run('DELETE FROM alert_workflows WHERE alert = ?', alert)
  sql.run('UPDATE alerts SET deleted_at = coalesce(?, since), active = 0 WHERE number = ?', at, alert)
}

/** An evaluation in progress is refused after a change. Revisions begin with the time, so that none comes twice. */
function keepCursor(sql: Sql, workspace: number, at: number): void {
  if (sql.get('SELECT 1 FROM alerts WHERE workspace = ? AND deleted_at IS NULL AND active = 1 LIMIT 1', workspace)) {
    sql.run(putCursor, workspace, at, workspace)
    return
  }
  sql.run('DELETE FROM alert_cursors WHERE workspace = ?', workspace)
  sql.run(deleteDropped, workspace)
  sql.run('DELETE FROM workspace_events WHERE workspace = ?', workspace)
}

const ofWorkspace =
  'a.workspace = (SELECT number FROM workspaces WHERE id = ?) AND a.starts IS NULL AND a.deleted_at IS NULL'

const columns = `
  a.number, a.id, w.id AS workspaceId, a.name, a.events, a.watches_all AS watchesAll, a.rule, a.quiet_ms AS quietMs,
  a.channel, a.url, a.secret, a.recipients, a.active, a.created_at AS createdAt, a.updated_at AS updatedAt,
  a.fired_at AS firedAt, a.quiet_until AS quietUntil, a.suppressed,
  (SELECT json_group_array(id) FROM (
    SELECT f.id FROM alert_workflows n CROSS JOIN workflows f ON f.number = n.workflow
    WHERE n.alert = a.number AND f.deleted_at IS NULL ORDER BY f.number)) AS workflowIds`

const select = `SELECT ${columns} FROM alerts a CROSS JOIN workspaces w ON w.number = a.workspace`

const selectListed = `
  SELECT ${columns}, d.state AS deliveryState, t.failure_message AS problem
  FROM alerts a CROSS JOIN workspaces w ON w.number = a.workspace
    LEFT JOIN deliveries d ON d.sequence = a.fired_sequence AND d.subscription = a.number + ${receiverOf(0)}
    LEFT JOIN delivery_attempts t
      ON t.sequence = d.sequence AND t.subscription = d.subscription AND t.number = d.attempts`

const insert = `
  INSERT INTO alerts (workspace, id, starts, name, events, watches_all, rule, quiet_ms, channel, url, secret, recipients,
    active, created_at, updated_at, since, updated_by)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14, ?14, ?15) RETURNING number`

const update = `
  UPDATE alerts SET name = ?, events = ?, watches_all = ?, rule = ?, quiet_ms = ?, channel = ?, url = ?, secret = ?,
    recipients = ?, active = ?, updated_at = ? WHERE number = ?`

const selectOwner = 'SELECT workspace, name FROM workflows WHERE number = ?'

const isSilence = "a.active = 1 AND a.rule ->> '$.type' = 'no_activity'"
const waits = "'{}', ?1 + (a.rule ->> '$.windowMs')"
const waitForAll = `
  INSERT INTO alert_states (alert, workflow, workspace, content, due_at)
  SELECT a.number, 0, a.workspace, ${waits} FROM alerts a WHERE a.number = ?2 AND a.watches_all = 1 AND ${isSilence}`
const waitForEach = `
  INSERT INTO alert_states (alert, workflow, workspace, content, due_at)
  SELECT a.number, n.workflow, a.workspace, ${waits} FROM alerts a JOIN alert_workflows n ON n.alert = a.number
  WHERE a.number = ?2 AND a.watches_all = 0 AND ${isSilence}`

const putCursor = `
  INSERT INTO alert_cursors (workspace, revision, sequence)
  VALUES (?, ?, coalesce((SELECT max(sequence) FROM logs WHERE workspace = ?), 0))
  ON CONFLICT (workspace) DO UPDATE SET revision = revision + 1`

// Starts that were given up, and that wait for the events of the workspace.
const deleteDropped = `
  DELETE FROM event_runs WHERE waiting = 0 AND content = '' AND workflow IN (
    SELECT number FROM workflows WHERE workspace = ?)`
