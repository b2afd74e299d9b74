import { notMember, unknownClient } from '../../errors/account-errors.ts'
import {
  grantsMax,
  type KeptClients,
  type NewOAuthClient,
  type NewOAuthGrant,
  type OAuthClientRow,
  type OAuthExchange,
  type OAuthExchanged,
  type OAuthGrantRow,
  type OAuthTokenRow,
  staleOAuthMax,
  unusedClientsMax,
} from '../../oauth-store.ts'
import { decideExchange, type ExchangedGrant } from '../../stored-oauth.ts'
import type { Sql } from '../connection.ts'

export function createOAuthClient(sql: Sql, { id, name, redirectUris, createdAt }: NewOAuthClient): void {
  sql.run(
    'INSERT INTO oauth_clients (id, name, redirect_uris, created_at) VALUES (?, ?, ?, ?)',
    ...[id, name, JSON.stringify(redirectUris), createdAt],
  )
  sql.run(
    `DELETE FROM oauth_clients WHERE id IN (
       SELECT id FROM oauth_clients WHERE used_at IS NULL ORDER BY created_at DESC, rowid DESC
       LIMIT -1 OFFSET ${unusedClientsMax})`,
  )
}

export function findOAuthClient(sql: Sql, id: string): OAuthClientRow | undefined {
  const row = sql.get<Omit<OAuthClientRow, 'redirectUris'> & { redirectUris: string }>(
    'SELECT id, name, redirect_uris AS redirectUris, created_at AS createdAt FROM oauth_clients WHERE id = ?',
    id,
  )
  return row && { ...row, redirectUris: JSON.parse(row.redirectUris) as string[] }
}

export function createOAuthGrant(sql: Sql, grant: NewOAuthGrant): void {
  const { id, clientId, userId, workspaceId, createdAt, expiresAt } = grant
  sql.run('DELETE FROM oauth_grants WHERE user_id = ? AND expires_at <= ?', userId, createdAt)
  if (sql.run('UPDATE oauth_clients SET used_at = ? WHERE id = ?', createdAt, clientId) === 0) throw unknownClient()
  const workspace = sql.get<{ number: number }>(
    'SELECT w.number FROM workspaces w JOIN members m ON m.workspace = w.number WHERE w.id = ? AND m.user_id = ?',
    ...[workspaceId, userId],
  )
  if (!workspace) throw notMember(workspaceId)
  sql.run(
    `INSERT INTO oauth_grants (id, family, client_id, user_id, workspace, redirect_uri, resource, challenge, current,
       access_expires_at, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
    ...[id, grant.family, clientId, userId, workspace.number, grant.redirectUri, grant.resource],
    ...[grant.challenge, grant.current, createdAt, expiresAt],
  )
  sql.run(
    `DELETE FROM oauth_grants WHERE id IN (
       SELECT id FROM oauth_grants WHERE user_id = ? ORDER BY created_at DESC, rowid DESC
       LIMIT -1 OFFSET ${grantsMax})`,
    userId,
  )
}

export function exchangeOAuthToken(sql: Sql, exchange: OAuthExchange): OAuthExchanged {
  const { family, next, at } = exchange
  const row = sql.get<Omit<ExchangedGrant, 'isMember'> & { isMember: number }>(
    `SELECT id, client_id AS clientId, redirect_uri AS redirectUri, resource, challenge, current, previous,
       rotated_at AS rotatedAt, access, access_expires_at AS accessExpiresAt, expires_at AS expiresAt,
       EXISTS (SELECT 1 FROM members m WHERE m.user_id = g.user_id AND m.workspace = g.workspace) AS isMember
     FROM oauth_grants g WHERE family = ?`,
    family,
  )
  const { write, result } = decideExchange(row && { ...row, isMember: row.isMember === 1 }, exchange)
  if (row && write === 'end') sql.run('DELETE FROM oauth_grants WHERE id = ?', row.id)
  if (row && write === 'replace') {
    sql.run(
      `UPDATE oauth_grants SET challenge = NULL, previous = current, current = ?, rotated_at = ?, access = ?,
         access_expires_at = ?, expires_at = ? WHERE id = ?`,
      ...[next.current, at, next.access, next.accessExpiresAt, next.expiresAt, row.id],
    )
  }
  return result
}

const selectTokens = `
  SELECT g.id AS grantId, c.name AS clientName, g.user_id AS userId, w.id AS workspaceId, m.role,
    g.created_at AS createdAt, g.access_expires_at AS accessExpiresAt
  FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id JOIN workspaces w ON w.number = g.workspace
  LEFT JOIN members m ON m.workspace = g.workspace AND m.user_id = g.user_id`

export function findOAuthToken(sql: Sql, access: Uint8Array): OAuthTokenRow | undefined {
  return sql.get<OAuthTokenRow>(`${selectTokens} WHERE g.access = ?`, access)
}

export function findOAuthGrant(sql: Sql, id: string): OAuthTokenRow | undefined {
  return sql.get<OAuthTokenRow>(`${selectTokens} WHERE g.id = ?`, id)
}

export function listOAuthGrants(sql: Sql, userId: string, at: number): OAuthGrantRow[] {
  return sql.all<OAuthGrantRow>(
    `SELECT g.id, c.name AS clientName, g.redirect_uri AS redirectUri, w.id AS workspaceId, w.name AS workspaceName,
       m.role, g.created_at AS createdAt, g.last_used_at AS lastUsedAt
     FROM oauth_grants g JOIN oauth_clients c ON c.id = g.client_id JOIN workspaces w ON w.number = g.workspace
     LEFT JOIN members m ON m.workspace = g.workspace AND m.user_id = g.user_id
     WHERE g.user_id = ? AND g.challenge IS NULL AND g.expires_at > ? ORDER BY g.created_at DESC, g.id`,
    ...[userId, at],
  )
}

export function endOAuthGrant(sql: Sql, userId: string, id: string): boolean {
  return sql.run('DELETE FROM oauth_grants WHERE id = ? AND user_id = ?', id, userId) > 0
}

export function revokeOAuthToken(sql: Sql, clientId: string, hash: Uint8Array): boolean {
  return sql.run('DELETE FROM oauth_grants WHERE client_id = ?1 AND (access = ?2 OR family = ?2)', clientId, hash) > 0
}

/** Also replaces a time in the future, which was recorded before the clock was set back. */
export function recordOAuthUses(sql: Sql, uses: readonly { keyId: string; at: number }[]): void {
  for (const { keyId, at } of uses) {
    sql.run(
      `UPDATE oauth_grants SET last_used_at = ?1
       WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN ?1 - 59999 AND ?1)`,
      ...[at, keyId],
    )
  }
}

/** An unused client is kept for less time, so all stale ones are older than `unusedSince`. */
export function deleteStaleOAuth(sql: Sql, at: number, { unusedSince, usedSince }: KeptClients): number {
  const grants = sql.run(
    `DELETE FROM oauth_grants WHERE id IN (SELECT id FROM oauth_grants WHERE expires_at <= ? LIMIT ${staleOAuthMax})`,
    at,
  )
  const clients = sql.run(
    `DELETE FROM oauth_clients WHERE id IN (
       SELECT id FROM oauth_clients c WHERE coalesce(used_at, created_at) < ? AND (used_at IS NULL OR used_at < ?)
         AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = c.id) LIMIT ${staleOAuthMax})`,
    ...[unusedSince, usedSince],
  )
  return grants + clients
}
