import type { Discarded, NewVariable, VariableRow } from '../../account-store.ts'
import { assertEnvironmentFits, unknownWorkspace } from '../../errors/account-errors.ts'
import type { Sql } from '../connection.ts'

/** Sorted by name. */
export function listEnvironment(sql: Sql, workspaceId: string): VariableRow[] {
  const rows = sql.all<Omit<VariableRow, 'plain'> & { plain: number }>(
    `SELECT e.name, e.sealed, e.plain, e.updated_at AS updatedAt
     FROM workspaces w JOIN environment e ON e.workspace = w.number WHERE w.id = ? ORDER BY e.name`,
    workspaceId,
  )
  return rows.map((row) => ({ ...row, plain: row.plain === 1 }))
}

export function setVariable(sql: Sql, variable: NewVariable): boolean {
  const { workspaceId, name, sealed, plain, at } = variable
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)?.number
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  const isNew = !sql.get('SELECT 1 FROM environment WHERE workspace = ? AND name = ?', workspace, name)
  sql.run(
    `INSERT INTO environment (workspace, name, sealed, plain, updated_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET sealed = excluded.sealed, plain = excluded.plain, updated_at = excluded.updated_at`,
    workspace,
    name,
    sealed,
    plain ? 1 : 0,
    at,
  )
  // Checked after the write, in the same transaction: an error rolls the write back.
  assertWithinBounds(sql, workspace)
  return isNew
}

export function unsetVariable(sql: Sql, workspaceId: string, name: string): boolean {
  const changed = sql.run(
    'DELETE FROM environment WHERE workspace = (SELECT number FROM workspaces WHERE id = ?) AND name = ?',
    workspaceId,
    name,
  )
  return changed > 0
}

/** There are few, one per key. To stay fast, reads only the oldest and the newest of the jobs, chat turns and pins. */
export function sealHeads(sql: Sql, length: number): Uint8Array[] {
  return sql.all<{ head: Uint8Array }>(selectSealHeads(), length).map(({ head }) => head)
}

export function discardSealed(sql: Sql, heads: readonly Uint8Array[]): Discarded {
  const gone = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0 }
  for (const head of heads) {
    const { length } = head
    gone.variables += sql.run('DELETE FROM environment WHERE substr(sealed, 1, ?) = ?', length, head)
    sql.run('DELETE FROM job_steps WHERE job IN (SELECT number FROM jobs WHERE substr(input, 1, ?) = ?)', length, head)
    const lost = 'SELECT execution_id FROM jobs WHERE substr(input, 1, ?) = ?'
    sql.run(`DELETE FROM pauses WHERE execution_id IN (${lost})`, length, head)
    gone.jobs += sql.run('DELETE FROM jobs WHERE substr(input, 1, ?) = ?', length, head)
    gone.outputs += sql.run('DELETE FROM job_outputs WHERE substr(content, 1, ?) = ?', length, head)
    sql.run('DELETE FROM chat_turns WHERE substr(content, 1, ?) = ?', length, head)
    sql.run('DELETE FROM pins WHERE substr(content, 1, ?) = ?', length, head)
    // Empty instead of NULL: a receiver that checks signatures must never get an unsigned request.
    gone.webhookSecrets += sql.run("UPDATE subscriptions SET secret = x'' WHERE substr(secret, 1, ?) = ?", length, head)
    gone.webhookSecrets += sql.run("UPDATE alerts SET secret = x'' WHERE substr(secret, 1, ?) = ?", length, head)
    sql.run('UPDATE subscriptions SET previous_secret = NULL WHERE substr(previous_secret, 1, ?) = ?', length, head)
    gone.credentials += sql.run("UPDATE credentials SET sealed = x'' WHERE substr(sealed, 1, ?) = ?", length, head)
    sql.run("UPDATE credentials SET token = x'' WHERE substr(token, 1, ?) = ?", length, head)
  }
  return gone
}

/** The statements that read the heads of each table: of the jobs, chat turns and pins, only of the ends. */
const selectsOfHeads: Readonly<Record<string, readonly string[]>> = {
  environment: ['SELECT substr(sealed, 1, ?1) AS head FROM environment'],
  alerts: ['SELECT substr(secret, 1, ?1) AS head FROM alerts WHERE length(secret) > 0'],
  subscriptions: [
    'SELECT substr(secret, 1, ?1) AS head FROM subscriptions WHERE length(secret) > 0',
    'SELECT substr(previous_secret, 1, ?1) AS head FROM subscriptions WHERE previous_secret IS NOT NULL',
  ],
  jobs: endsOf('jobs', 'input', 'number'),
  job_outputs: ['SELECT substr(content, 1, ?1) AS head FROM (SELECT content FROM job_outputs LIMIT 1)'],
  chat_turns: endsOf('chat_turns', 'content', 'at'),
  pins: endsOf('pins', 'content', 'number'),
  credentials: [
    'SELECT substr(sealed, 1, ?1) AS head FROM credentials WHERE length(sealed) > 0',
    'SELECT substr(token, 1, ?1) AS head FROM credentials WHERE length(token) > 0',
  ],
}

function endsOf(table: string, column: string, order: string): string[] {
  return ['ASC', 'DESC'].map(
    (direction) =>
      `SELECT substr(${column}, 1, ?1) AS head FROM (
         SELECT ${column} FROM ${table} ORDER BY ${order} ${direction} LIMIT 1)`,
  )
}

/** Reads the heads of the tables that a database has: one of an earlier version has fewer. */
export function selectSealHeads(hasTable: (name: string) => boolean = () => true): string {
  const selects = Object.entries(selectsOfHeads).flatMap(([table, texts]) => (hasTable(table) ? texts : []))
  return selects.map((text) => `SELECT head FROM (${text})`).join(' UNION ')
}

function assertWithinBounds(sql: Sql, workspace: number): void {
  const sums = sql.get<{ count: number; bytes: number }>(
    'SELECT count(*) AS count, sum(length(sealed)) AS bytes FROM environment WHERE workspace = ?',
    workspace,
  )
  if (sums) assertEnvironmentFits(sums)
}
