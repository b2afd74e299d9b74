import type { ScheduleRow, ScheduleRule } from '../../../domain/schedule/schedule.ts'
import { type Address, addressKinds, type Registrations } from '../../../domain/workflow/trigger.ts'
import { addressTaken } from '../../errors/workflow-errors.ts'
import { registerEvents } from '../alerts/alerts.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'
import { registerPolls } from '../polls/poll-rows.ts'

type Registering = { workflow: number; version: number; at: number; registrations: Registrations }

/**
 * Registers what an active version announces, and removes what the previous one did. A poll of the same thing keeps
 * what it remembers, and so does an event trigger.
 */
export async function register(sql: Sql, { workflow, version, at, registrations }: Registering): Promise<void> {
  await unregisterNumber(sql, workflow)
  await registerPolls(sql, { workflow, version, polls: registrations.polls ?? [] })
  await registerAddresses(sql, workflow, registrations.addresses)
  await registerEvents(sql, { workflow, at }, registrations.events ?? null)
  const { schedule } = registrations
  if (!schedule) return
  await sql.run(
    'INSERT INTO millrace.schedules (workflow, version, rule, due_at) VALUES ($1, $2, $3, $4::bigint)',
    workflow,
    version,
    JSON.stringify(schedule.rule),
    schedule.dueAt,
  )
}

async function registerAddresses(sql: Sql, workflow: number, addresses: readonly Address[]): Promise<void> {
  if (addresses.length === 0) return
  const rows = addresses.map(({ kind, name }, position) => {
    return { position, kind: addressKinds.indexOf(kind), name: storable(name) }
  })
  // Transactions that register the same address at the same time: the one that commits later is repeated, and sees it.
  const taken = await sql.get<{ position: number }>(
    `SELECT r.position FROM json_to_recordset($1::text::json) AS r (position integer, kind smallint, name text)
     JOIN millrace.addresses a ON a.kind = r.kind AND a.name = r.name ORDER BY r.position LIMIT 1`,
    rowsOf(rows),
  )
  if (taken) throw addressTaken(addresses[taken.position]!)
  await sql.run(
    `INSERT INTO millrace.addresses (kind, name, workflow)
     SELECT r.kind, r.name, $2::integer FROM json_to_recordset($1::text::json) AS r (kind smallint, name text)`,
    rowsOf(rows),
    workflow,
  )
}

export async function unregister(sql: Sql, workflowId: string): Promise<void> {
  const workflow = await sql.get<{ number: number }>('SELECT number FROM millrace.workflows WHERE id = $1', workflowId)
  if (!workflow) return
  await unregisterNumber(sql, workflow.number)
  await registerPolls(sql, { workflow: workflow.number, version: 0, polls: [] })
  await registerEvents(sql, { workflow: workflow.number, at: null }, null)
}

export async function findAddress(sql: Sql, { kind, name }: Address): Promise<string | undefined> {
  const row = await sql.get<{ id: string }>(
    `SELECT f.id FROM millrace.addresses a JOIN millrace.workflows f ON f.number = a.workflow
     WHERE a.kind = $1 AND a.name = $2`,
    addressKinds.indexOf(kind),
    storable(name),
  )
  return row?.id
}

export async function listDueSchedules(
  sql: Sql,
  limit: number,
  after?: Pick<ScheduleRow, 'dueAt' | 'workflowId'>,
): Promise<ScheduleRow[]> {
  const rows = after
    ? await sql.all<SqlSchedule>(
        `${selectDue} AND (s.due_at, s.workflow) > ($2::bigint, (SELECT number FROM millrace.workflows WHERE id = $3))
         ${inDueOrder}`,
        limit,
        after.dueAt,
        after.workflowId,
      )
    : await sql.all<SqlSchedule>(`${selectDue} ${inDueOrder}`, limit)
  return rows.map(scheduleOf)
}

export async function listWaitingSchedules(sql: Sql): Promise<ScheduleRow[]> {
  const rows = await sql.all<SqlSchedule>(`${selectSchedules} WHERE s.waiting_at IS NOT NULL`)
  return rows.map(scheduleOf)
}

export async function getSchedule(sql: Sql, workflowId: string): Promise<ScheduleRow | undefined> {
  const row = await sql.get<SqlSchedule>(`${selectSchedules} WHERE f.id = $1`, workflowId)
  return row && scheduleOf(row)
}

async function unregisterNumber(sql: Sql, workflow: number): Promise<void> {
  await sql.run('DELETE FROM millrace.addresses WHERE workflow = $1', workflow)
  await sql.run('DELETE FROM millrace.schedules WHERE workflow = $1', workflow)
}

type SqlSchedule = Omit<ScheduleRow, 'rule'> & { rule: string }

const selectSchedules = `
  SELECT f.id AS "workflowId", w.id AS "workspaceId", w.owner_id AS "ownerId", s.version, s.rule, s.due_at AS "dueAt",
    s.waiting_at AS "waitingAt"
  FROM millrace.schedules s JOIN millrace.workflows f ON f.number = s.workflow
  JOIN millrace.workspaces w ON w.number = f.workspace`

const selectDue = `${selectSchedules} WHERE s.due_at IS NOT NULL`
const inDueOrder = 'ORDER BY s.due_at, s.workflow LIMIT $1::bigint'

const scheduleOf = (row: SqlSchedule): ScheduleRow => ({ ...row, rule: JSON.parse(row.rule) as ScheduleRule })
