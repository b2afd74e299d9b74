import type { ScheduleRow, ScheduleRule } from '../../../domain/schedule/schedule.ts'
import { type Address, addressKinds, type Registrations } from '../../../domain/workflow/trigger.ts'
import { addressTaken } from '../../errors/workflow-errors.ts'
import { registerEvents } from '../alerts/alerts.ts'
import type { Sql } from '../connection.ts'
import { registerPolls } from '../polls/poll-rows.ts'

type Registering = { workflow: number; version: number; at: number; registrations: Registrations }

/**
 * Registers what an active version announces, and removes what the previous one did. A poll of the same thing keeps
 * what it remembers, and so does an event trigger.
 */
export function register(sql: Sql, { workflow, version, at, registrations }: Registering): void {
  unregisterNumber(sql, workflow)
  registerPolls(sql, { workflow, version, polls: registrations.polls ?? [] })
  registerEvents(sql, { workflow, at }, registrations.events ?? null)
  for (const { kind, name } of registrations.addresses) {
    const number = addressKinds.indexOf(kind)
    const taken = sql.get('SELECT 1 FROM addresses WHERE kind = ? AND name = ?', number, name)
    if (taken) throw addressTaken({ kind, name })
    sql.run('INSERT INTO addresses (kind, name, workflow) VALUES (?, ?, ?)', number, name, workflow)
  }
  const { schedule } = registrations
  if (!schedule) return
  sql.run(
    'INSERT INTO schedules (workflow, version, rule, due_at) VALUES (?, ?, ?, ?)',
    workflow,
    version,
    JSON.stringify(schedule.rule),
    schedule.dueAt,
  )
}

export function unregister(sql: Sql, workflowId: string): void {
  const workflow = sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ?', workflowId)
  if (!workflow) return
  unregisterNumber(sql, workflow.number)
  registerPolls(sql, { workflow: workflow.number, version: 0, polls: [] })
  registerEvents(sql, { workflow: workflow.number, at: null }, null)
}

export function findAddress(sql: Sql, { kind, name }: Address): string | undefined {
  return sql.get<{ id: string }>(
    'SELECT f.id FROM addresses a JOIN workflows f ON f.number = a.workflow WHERE a.kind = ? AND a.name = ?',
    addressKinds.indexOf(kind),
    name,
  )?.id
}

export function listDueSchedules(
  sql: Sql,
  limit: number,
  after?: Pick<ScheduleRow, 'dueAt' | 'workflowId'>,
): ScheduleRow[] {
  if (!after) return sql.all<SqlSchedule>(`${selectDue} ORDER BY s.due_at, s.workflow LIMIT ?`, limit).map(scheduleOf)
  return sql
    .all<SqlSchedule>(
      `${selectDue} AND (s.due_at, s.workflow) > (?, (SELECT number FROM workflows WHERE id = ?))
       ORDER BY s.due_at, s.workflow LIMIT ?`,
      after.dueAt,
      after.workflowId,
      limit,
    )
    .map(scheduleOf)
}

export function listWaitingSchedules(sql: Sql): ScheduleRow[] {
  return sql.all<SqlSchedule>(`${selectSchedules} WHERE s.waiting_at IS NOT NULL`).map(scheduleOf)
}

export function getSchedule(sql: Sql, workflowId: string): ScheduleRow | undefined {
  const row = sql.get<SqlSchedule>(
    `${selectSchedules} WHERE s.workflow = (SELECT number FROM workflows WHERE id = ?)`,
    workflowId,
  )
  return row && scheduleOf(row)
}

function unregisterNumber(sql: Sql, workflow: number): void {
  sql.run('DELETE FROM addresses WHERE workflow = ?', workflow)
  sql.run('DELETE FROM schedules WHERE workflow = ?', workflow)
}

type SqlSchedule = Omit<ScheduleRow, 'rule'> & { rule: string }

// CROSS JOIN makes SQLite read the tables in this order: first the few schedules, then their names.
const selectSchedules = `
  SELECT f.id AS workflowId, w.id AS workspaceId, w.owner_id AS ownerId, s.version, s.rule, s.due_at AS dueAt,
    s.waiting_at AS waitingAt
  FROM schedules s CROSS JOIN workflows f ON f.number = s.workflow CROSS JOIN workspaces w ON w.number = f.workspace`

const selectDue = `${selectSchedules} WHERE s.due_at IS NOT NULL`

const scheduleOf = (row: SqlSchedule): ScheduleRow => ({ ...row, rule: JSON.parse(row.rule) as ScheduleRule })
