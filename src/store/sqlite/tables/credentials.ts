import { credentialBounds } from '../../../domain/credential/credential.ts'
import type {
  CredentialChange,
  CredentialRow,
  CredentialUse,
  NewCredential,
  TokenChange,
} from '../../credential-store.ts'
import { unknownWorkspace } from '../../errors/account-errors.ts'
import { credentialNameTaken, tooManyCredentials, unknownCredential } from '../../errors/credential-errors.ts'
import { noteSignIn } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'

/** By name. */
export function listCredentials(sql: Sql, workspaceId: string): CredentialRow[] {
  return sql.all<SqlRow>(`${select} WHERE w.id = ? ORDER BY c.name`, workspaceId).map(rowOf)
}

export function getCredential(sql: Sql, workspaceId: string, name: string): CredentialRow | undefined {
  const row = sql.get<SqlRow>(`${select} WHERE w.id = ? AND c.name = ?`, workspaceId, name)
  return row && rowOf(row)
}

export function createCredential(sql: Sql, credential: NewCredential): CredentialRow {
  const { id, workspaceId, name, kind, hosts, fields, sealed, at, by } = credential
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)?.number
  if (workspace === undefined) throw unknownWorkspace(workspaceId)
  if (isTaken(sql, workspace, name, id)) throw credentialNameTaken(name)
  const { count } = sql.get<{ count: number }>(
    'SELECT count(*) AS count FROM credentials WHERE workspace = ?',
    workspace,
  )!
  if (count >= credentialBounds.perWorkspaceMax) throw tooManyCredentials()
  sql.run(
    `INSERT INTO credentials
       (workspace, id, name, kind, hosts, fields, sealed, created_at, updated_at, updated_by, state, token_version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'untested', 0)`,
    ...[workspace, id, name, kind, JSON.stringify(hosts), JSON.stringify(fields), sealed, at, at, by],
  )
  return byId(sql, id)!
}

export function updateCredential(sql: Sql, id: string, change: CredentialChange): CredentialRow {
  const { name, kind, hosts, fields, sealed, at, by, keepsToken } = change
  const workspace = sql.get<{ workspace: number }>('SELECT workspace FROM credentials WHERE id = ?', id)?.workspace
  if (workspace === undefined) throw unknownCredential()
  if (isTaken(sql, workspace, name, id)) throw credentialNameTaken(name)
  sql.run(
    `UPDATE credentials
     SET name = ?, kind = ?, hosts = ?, fields = ?, sealed = ?, updated_at = ?, updated_by = ?,
       state = 'untested', problem = NULL
     WHERE id = ?`,
    ...[name, kind, JSON.stringify(hosts), JSON.stringify(fields), sealed, at, by, id],
  )
  if (!keepsToken) {
    // The version rises, so that a refresh in progress does not store a token of the former settings.
    sql.run(
      'UPDATE credentials SET token = NULL, expires_at = NULL, token_version = token_version + 1 WHERE id = ?',
      id,
    )
  }
  return byId(sql, id)!
}

export function deleteCredential(sql: Sql, workspaceId: string, name: string): boolean {
  const deleted = sql.run(
    'DELETE FROM credentials WHERE workspace = (SELECT number FROM workspaces WHERE id = ?) AND name = ?',
    workspaceId,
    name,
  )
  return deleted > 0
}

export function takeCredentialLease(
  sql: Sql,
  id: string,
  owner: string,
  now: number,
  until: number,
): CredentialRow | undefined {
  const taken = sql.run(
    `UPDATE credentials SET lease_owner = ?1, lease_until = ?2
     WHERE id = ?3 AND (lease_until IS NULL OR lease_until <= ?4 OR lease_owner = ?1)`,
    ...[owner, until, id, now],
  )
  return taken > 0 ? byId(sql, id) : undefined
}

export function saveCredentialToken(
  sql: Sql,
  id: string,
  owner: string,
  version: number,
  { token, state, problem, expiresAt, needsSignInAt: at }: TokenChange,
): boolean {
  const saved = sql.run(
    `UPDATE credentials SET token = ?, state = ?, problem = ?, expires_at = ?, token_version = token_version + 1
     WHERE id = ? AND token_version = ?`,
    ...[token, state, problem, expiresAt, id, version],
  )
  endCredentialLease(sql, id, owner)
  if (saved > 0 && at !== undefined) noteSignIn(sql, id, at)
  return saved > 0
}

export function endCredentialLease(sql: Sql, id: string, owner: string): void {
  sql.run('UPDATE credentials SET lease_owner = NULL, lease_until = NULL WHERE id = ? AND lease_owner = ?', id, owner)
}

export function noteCredentialUses(sql: Sql, uses: readonly CredentialUse[]): void {
  for (const { id, at, state } of uses) {
    sql.run('UPDATE credentials SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?', at, id)
    if (state) sql.run('UPDATE credentials SET state = ?, problem = ? WHERE id = ?', state.state, state.problem, id)
  }
}

type SqlRow = Omit<CredentialRow, 'hosts' | 'fields'> & { hosts: string; fields: string }

const select = `
  SELECT c.id, w.id AS workspaceId, c.name, c.kind, c.hosts, c.fields, c.sealed, c.created_at AS createdAt,
    c.updated_at AS updatedAt, c.updated_by AS updatedBy, c.state, c.problem, c.last_used_at AS lastUsedAt,
    c.token, c.token_version AS tokenVersion, c.expires_at AS expiresAt
  FROM credentials c JOIN workspaces w ON w.number = c.workspace`

function rowOf({ hosts, fields, ...row }: SqlRow): CredentialRow {
  return {
    ...row,
    hosts: JSON.parse(hosts) as CredentialRow['hosts'],
    fields: JSON.parse(fields) as CredentialRow['fields'],
  }
}

function byId(sql: Sql, id: string): CredentialRow | undefined {
  const row = sql.get<SqlRow>(`${select} WHERE c.id = ?`, id)
  return row && rowOf(row)
}

function isTaken(sql: Sql, workspace: number, name: string, id: string): boolean {
  return !!sql.get('SELECT 1 FROM credentials WHERE workspace = ? AND name = ? AND id <> ?', workspace, name, id)
}
