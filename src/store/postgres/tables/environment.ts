import type { Discarded, NewVariable, VariableRow } from '../../account-store.ts'
import { assertEnvironmentFits, unknownWorkspace } from '../../errors/account-errors.ts'
import { type Sql, storable } from '../connection.ts'

/** Sorted by name. */
export async function listEnvironment(sql: Sql, workspaceId: string): Promise<VariableRow[]> {
  return await sql.all<VariableRow>(
    `SELECT e.name, e.sealed, e.plain, e.updated_at AS "updatedAt"
     FROM millrace.workspaces w JOIN millrace.environment e ON e.workspace = w.number
     WHERE w.id = $1 ORDER BY e.name`,
    workspaceId,
  )
}

export async function setVariable(sql: Sql, { workspaceId, name, sealed, plain, at }: NewVariable): Promise<boolean> {
  const found = await sql.get<{ number: number; isNew: boolean }>(
    `SELECT w.number, e.name IS NULL AS "isNew"
     FROM millrace.workspaces w LEFT JOIN millrace.environment e ON e.workspace = w.number AND e.name = $2
     WHERE w.id = $1`,
    ...[workspaceId, storable(name)],
  )
  if (!found) throw unknownWorkspace(workspaceId)
  await sql.run(
    `INSERT INTO millrace.environment (workspace, name, sealed, plain, updated_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace, name)
     DO UPDATE SET sealed = excluded.sealed, plain = excluded.plain, updated_at = excluded.updated_at`,
    ...[found.number, storable(name), sealed, plain, at],
  )
  // Checked after the write, in the same transaction: an error rolls the write back.
  const sums = await sql.get<{ count: number; bytes: number }>(
    'SELECT count(*) AS count, sum(length(sealed)) AS bytes FROM millrace.environment WHERE workspace = $1',
    found.number,
  )
  if (sums) assertEnvironmentFits(sums)
  return found.isNew
}

export async function unsetVariable(sql: Sql, workspaceId: string, name: string): Promise<boolean> {
  const changed = await sql.run(
    `DELETE FROM millrace.environment
     WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND name = $2`,
    ...[workspaceId, storable(name)],
  )
  return changed > 0
}

/**
 * There are few, one per key. To stay fast, reads only the oldest and the newest of what an installation has many of.
 */
export async function sealHeads(sql: Sql, length: number): Promise<Uint8Array[]> {
  const rows = await sql.all<{ head: Uint8Array }>(selectSealHeads, length)
  return rows.map(({ head }) => head)
}

export async function discardSealed(sql: Sql, heads: readonly Uint8Array[]): Promise<Discarded> {
  const gone = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0 }
  for (const head of heads) {
    const remove = (text: string) => sql.run(text, head.length, head)
    gone.variables += await remove('DELETE FROM millrace.environment WHERE substr(sealed, 1, $1) = $2')
    await remove(
      `DELETE FROM millrace.job_steps
       WHERE job IN (SELECT number FROM millrace.jobs WHERE substr(input, 1, $1) = $2)`,
    )
    await remove(
      `DELETE FROM millrace.pauses
       WHERE execution_id IN (SELECT execution_id FROM millrace.jobs WHERE substr(input, 1, $1) = $2)`,
    )
    gone.jobs += await remove('DELETE FROM millrace.jobs WHERE substr(input, 1, $1) = $2')
    gone.outputs += await remove('DELETE FROM millrace.job_outputs WHERE substr(content, 1, $1) = $2')
    await remove('DELETE FROM millrace.chat_turns WHERE substr(content, 1, $1) = $2')
    await remove('DELETE FROM millrace.pins WHERE substr(content, 1, $1) = $2')
    // Empty instead of NULL: a receiver that checks signatures must never get an unsigned request.
    gone.webhookSecrets += await remove(
      `UPDATE millrace.subscriptions SET secret = '' WHERE substr(secret, 1, $1) = $2`,
    )
    gone.webhookSecrets += await remove("UPDATE millrace.alerts SET secret = '' WHERE substr(secret, 1, $1) = $2")
    await remove('UPDATE millrace.subscriptions SET previous_secret = NULL WHERE substr(previous_secret, 1, $1) = $2')
    gone.credentials += await remove("UPDATE millrace.credentials SET sealed = '' WHERE substr(sealed, 1, $1) = $2")
    await remove("UPDATE millrace.credentials SET token = '' WHERE substr(token, 1, $1) = $2")
  }
  return gone
}

const endsOf = (table: string, column: string, order: string) =>
  ['ASC', 'DESC'].map(
    (direction) =>
      `SELECT substr(${column}, 1, $1) FROM (
         SELECT ${column} FROM millrace.${table} ORDER BY ${order} ${direction} LIMIT 1) AS ends`,
  )

const selectSealHeads = `${[
  'SELECT substr(sealed, 1, $1) AS head FROM millrace.environment',
  'SELECT substr(secret, 1, $1) FROM millrace.subscriptions WHERE length(secret) > 0',
  'SELECT substr(previous_secret, 1, $1) FROM millrace.subscriptions WHERE length(previous_secret) > 0',
  'SELECT substr(secret, 1, $1) FROM millrace.alerts WHERE length(secret) > 0',
  'SELECT substr(sealed, 1, $1) FROM millrace.credentials WHERE length(sealed) > 0',
  'SELECT substr(token, 1, $1) FROM millrace.credentials WHERE length(token) > 0',
  ...endsOf('jobs', 'input', 'number'),
  ...endsOf('job_outputs', 'content', 'sequence'),
  ...endsOf('chat_turns', 'content', 'at'),
  ...endsOf('pins', 'content', 'number'),
].join(' UNION ')} ORDER BY head`
