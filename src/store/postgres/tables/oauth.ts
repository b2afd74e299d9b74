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
import { rowsOf, type Sql, storable } from '../connection.ts'

export async function createOAuthClient(
  sql: Sql,
  { id, name, redirectUris, createdAt }: NewOAuthClient,
): Promise<void> {
  await sql.run(
    'INSERT INTO millrace.oauth_clients (id, name, redirect_uris, created_at) VALUES ($1, $2, $3, $4)',
    ...[id, storable(name), JSON.stringify(redirectUris), createdAt],
  )
  await sql.run(
    `DELETE FROM millrace.oauth_clients WHERE id IN (
       SELECT id FROM millrace.oauth_clients WHERE used_at IS NULL AND id <> $1 ORDER BY created_at DESC, id
       OFFSET ${unusedClientsMax - 1})`,
    id,
  )
}

export async function findOAuthClient(sql: Sql, id: string): Promise<OAuthClientRow | undefined> {
  const row = await sql.get<Omit<OAuthClientRow, 'redirectUris'> & { redirectUris: string }>(
    `SELECT id, name, redirect_uris AS "redirectUris", created_at AS "createdAt"
     FROM millrace.oauth_clients WHERE id = $1`,
    storable(id),
  )
  return row && { ...row, redirectUris: JSON.parse(row.redirectUris) as string[] }
}

export async function createOAuthGrant(sql: Sql, grant: NewOAuthGrant): Promise<void> {
  const { id, clientId, userId, workspaceId, createdAt, expiresAt } = grant
  await sql.run('DELETE FROM millrace.oauth_grants WHERE user_id = $1 AND expires_at <= $2', userId, createdAt)
  const used = await sql.run('UPDATE millrace.oauth_clients SET used_at = $1 WHERE id = $2', createdAt, clientId)
  if (used === 0) throw unknownClient()
  const workspace = await sql.get<{ number: number }>(
    `SELECT w.number FROM millrace.workspaces w JOIN millrace.members m ON m.workspace = w.number
     WHERE w.id = $1 AND m.user_id = $2`,
    ...[storable(workspaceId), userId],
  )
  if (!workspace) throw notMember(workspaceId)
  await sql.run(
    `INSERT INTO millrace.oauth_grants (id, family, client_id, user_id, workspace, redirect_uri, resource, challenge,
       current, access_expires_at, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11)`,
    ...[id, grant.family, clientId, userId, workspace.number, grant.redirectUri, grant.resource],
    ...[grant.challenge, grant.current, createdAt, expiresAt],
  )
  await sql.run(
    `DELETE FROM millrace.oauth_grants WHERE id IN (
       SELECT id FROM millrace.oauth_grants WHERE user_id = $1 AND id <> $2 ORDER BY created_at DESC, id
       OFFSET ${grantsMax - 1})`,
    ...[userId, id],
  )
}

export async function exchangeOAuthToken(sql: Sql, exchange: OAuthExchange): Promise<OAuthExchanged> {
  const { family, next, at } = exchange
  const row = await sql.get<ExchangedGrant>(
    `SELECT id, client_id AS "clientId", redirect_uri AS "redirectUri", resource, challenge, current, previous,
       rotated_at AS "rotatedAt", access, access_expires_at AS "accessExpiresAt", expires_at AS "expiresAt",
       EXISTS (
         SELECT 1 FROM millrace.members m WHERE m.user_id = g.user_id AND m.workspace = g.workspace
       ) AS "isMember"
     FROM millrace.oauth_grants g WHERE family = $1`,
    family,
  )
  const { write, result } = decideExchange(row, exchange)
  if (row && write === 'end') await sql.run('DELETE FROM millrace.oauth_grants WHERE id = $1', row.id)
  if (row && write === 'replace') {
    await sql.run(
      `UPDATE millrace.oauth_grants SET challenge = NULL, previous = current, current = $1, rotated_at = $2,
         access = $3, access_expires_at = $4, expires_at = $5 WHERE id = $6`,
      ...[next.current, at, next.access, next.accessExpiresAt, next.expiresAt, row.id],
    )
  }
  return result
}

const selectTokens = `
  SELECT g.id AS "grantId", c.name AS "clientName", g.user_id AS "userId", w.id AS "workspaceId", m.role,
    g.created_at AS "createdAt", g.access_expires_at AS "accessExpiresAt"
  FROM millrace.oauth_grants g JOIN millrace.oauth_clients c ON c.id = g.client_id
  JOIN millrace.workspaces w ON w.number = g.workspace
  LEFT JOIN millrace.members m ON m.workspace = g.workspace AND m.user_id = g.user_id`

export async function findOAuthToken(sql: Sql, access: Uint8Array): Promise<OAuthTokenRow | undefined> {
  return await sql.get<OAuthTokenRow>(`${selectTokens} WHERE g.access = $1`, access)
}

export async function findOAuthGrant(sql: Sql, id: string): Promise<OAuthTokenRow | undefined> {
  return await sql.get<OAuthTokenRow>(`${selectTokens} WHERE g.id = $1`, storable(id))
}

export async function listOAuthGrants(sql: Sql, userId: string, at: number): Promise<OAuthGrantRow[]> {
  return await sql.all<OAuthGrantRow>(
    `SELECT g.id, c.name AS "clientName", g.redirect_uri AS "redirectUri", w.id AS "workspaceId",
       w.name AS "workspaceName", m.role, g.created_at AS "createdAt", g.last_used_at AS "lastUsedAt"
     FROM millrace.oauth_grants g JOIN millrace.oauth_clients c ON c.id = g.client_id
     JOIN millrace.workspaces w ON w.number = g.workspace
     LEFT JOIN millrace.members m ON m.workspace = g.workspace AND m.user_id = g.user_id
     WHERE g.user_id = $1 AND g.challenge IS NULL AND g.expires_at > $2 ORDER BY g.created_at DESC, g.id`,
    ...[userId, at],
  )
}

export async function endOAuthGrant(sql: Sql, userId: string, id: string): Promise<boolean> {
  const deleted = await sql.run(
    'DELETE FROM millrace.oauth_grants WHERE id = $1 AND user_id = $2',
    ...[storable(id), userId],
  )
  return deleted > 0
}

export async function revokeOAuthToken(sql: Sql, clientId: string, hash: Uint8Array): Promise<boolean> {
  const deleted = await sql.run(
    'DELETE FROM millrace.oauth_grants WHERE client_id = $1 AND (access = $2 OR family = $2)',
    ...[storable(clientId), hash],
  )
  return deleted > 0
}

/** Also replaces a time in the future, which was recorded before the clock was set back. */
export async function recordOAuthUses(sql: Sql, uses: readonly { keyId: string; at: number }[]): Promise<void> {
  // Locked in order, because processes that lock the same rows in different orders would wait for each other for ever.
  await sql.run(
    `WITH due AS (
       SELECT g.id, u.at
       FROM (
         SELECT "keyId", max(at) AS at
         FROM json_to_recordset($1::text::json) AS r ("keyId" text, at bigint) GROUP BY "keyId"
       ) u JOIN millrace.oauth_grants g ON g.id = u."keyId"
       WHERE g.last_used_at IS NULL OR g.last_used_at NOT BETWEEN u.at - 59999 AND u.at
       ORDER BY g.id FOR UPDATE OF g
     )
     UPDATE millrace.oauth_grants g SET last_used_at = due.at FROM due WHERE g.id = due.id`,
    rowsOf(uses),
  )
}

/** An unused client is kept for less time, so all stale ones are older than `unusedSince`. */
export async function deleteStaleOAuth(sql: Sql, at: number, { unusedSince, usedSince }: KeptClients): Promise<number> {
  const grants = await sql.run(
    `DELETE FROM millrace.oauth_grants WHERE id IN (
       SELECT id FROM millrace.oauth_grants WHERE expires_at <= $1 LIMIT ${staleOAuthMax} FOR UPDATE SKIP LOCKED)`,
    at,
  )
  const clients = await sql.run(
    `DELETE FROM millrace.oauth_clients WHERE id IN (
       SELECT id FROM millrace.oauth_clients c
       WHERE coalesce(used_at, created_at) < $1 AND (used_at IS NULL OR used_at < $2)
         AND NOT EXISTS (SELECT 1 FROM millrace.oauth_grants g WHERE g.client_id = c.id)
       LIMIT ${staleOAuthMax} FOR UPDATE SKIP LOCKED)`,
    ...[unusedSince, usedSince],
  )
  return grants + clients
}
