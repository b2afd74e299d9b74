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
import { rowsOf, type Sql, storable } from '../connection.ts'

/** By name. */
export async function listCredentials(sql: Sql, workspaceId: string): Promise<CredentialRow[]> {
  const rows = await sql.all<SqlRow>(`${select} WHERE w.id = $1 ORDER BY c.name`, workspaceId)
  return rows.map(rowOf)
}

export async function getCredential(sql: Sql, workspaceId: string, name: string): Promise<CredentialRow | undefined> {
  const row = await sql.get<SqlRow>(`${select} WHERE w.id = $1 AND c.name = $2`, workspaceId, storable(name))
  return row && rowOf(row)
}

export async function createCredential(sql: Sql, credential: NewCredential): Promise<CredentialRow> {
  const { id, workspaceId, name, kind, hosts, fields, sealed, at, by } = credential
  const found = await sql.get<{ number: number; count: number }>(
    `SELECT w.number, (SELECT count(*) FROM millrace.credentials c WHERE c.workspace = w.number) AS count
     FROM millrace.workspaces w WHERE w.id = $1`,
    workspaceId,
  )
  if (!found) throw unknownWorkspace(workspaceId)
  if (await isTaken(sql, found.number, name, id)) throw credentialNameTaken(name)
  if (found.count >= credentialBounds.perWorkspaceMax) throw tooManyCredentials()
  await sql.run(
    `INSERT INTO millrace.credentials
       (workspace, id, name, kind, hosts, fields, sealed, created_at, updated_at, updated_by, state, token_version)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, 'untested', 0)`,
    ...[found.number, id, storable(name), kind, JSON.stringify(hosts), JSON.stringify(fields), sealed, at, by],
  )
  return (await byId(sql, id))!
}

export async function updateCredential(sql: Sql, id: string, change: CredentialChange): Promise<CredentialRow> {
  const { name, kind, hosts, fields, sealed, at, by, keepsToken } = change
  const found = await sql.get<{ workspace: number }>('SELECT workspace FROM millrace.credentials WHERE id = $1', id)
  if (!found) throw unknownCredential()
  if (await isTaken(sql, found.workspace, name, id)) throw credentialNameTaken(name)
  await sql.run(
    `UPDATE millrace.credentials
     SET name = $2, kind = $3, hosts = $4, fields = $5, sealed = $6, updated_at = $7, updated_by = $8,
       state = 'untested', problem = NULL
     WHERE id = $1`,
    ...[id, storable(name), kind, JSON.stringify(hosts), JSON.stringify(fields), sealed, at, by],
  )
  if (!keepsToken) {
    // The version rises, so that a refresh in progress does not store a token of the former settings.
    await sql.run(
      `UPDATE millrace.credentials SET token = NULL, expires_at = NULL, token_version = token_version + 1
       WHERE id = $1`,
      id,
    )
  }
  return (await byId(sql, id))!
}

export async function deleteCredential(sql: Sql, workspaceId: string, name: string): Promise<boolean> {
  const deleted = await sql.run(
    `DELETE FROM millrace.credentials
     WHERE workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND name = $2`,
    ...[workspaceId, storable(name)],
  )
  return deleted > 0
}

export async function takeCredentialLease(
  sql: Sql,
  id: string,
  owner: string,
  now: number,
  until: number,
): Promise<CredentialRow | undefined> {
  const taken = await sql.run(
    `UPDATE millrace.credentials SET lease_owner = $1, lease_until = $2
     WHERE id = $3 AND (lease_until IS NULL OR lease_until <= $4 OR lease_owner = $1)`,
    ...[owner, until, id, now],
  )
  return taken > 0 ? await byId(sql, id) : undefined
}

export async function saveCredentialToken(
  sql: Sql,
  id: string,
  owner: string,
  version: number,
  { token, state, problem, expiresAt, needsSignInAt: at }: TokenChange,
): Promise<boolean> {
  const saved = await sql.run(
    `UPDATE millrace.credentials
     SET token = $1, state = $2, problem = $3, expires_at = $4, token_version = token_version + 1
     WHERE id = $5 AND token_version = $6`,
    ...[token, state, problem === null ? null : storable(problem), expiresAt, id, version],
  )
  await endCredentialLease(sql, id, owner)
  if (saved > 0 && at !== undefined) await noteSignIn(sql, id, at)
  return saved > 0
}

export async function endCredentialLease(sql: Sql, id: string, owner: string): Promise<void> {
  await sql.run(
    `UPDATE millrace.credentials SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND lease_owner = $2`,
    ...[id, owner],
  )
}

export async function noteCredentialUses(sql: Sql, uses: readonly CredentialUse[]): Promise<void> {
  const rows = uses.map(({ id, at, state }) => ({
    id,
    at,
    state: state?.state ?? null,
    problem: state && state.problem !== null ? storable(state.problem) : null,
  }))
  // In one order, so that two processes that note the same credentials do not wait for each other.
  await sql.all(
    `SELECT 1 FROM millrace.credentials c JOIN json_to_recordset($1::text::json) AS r (id text) ON r.id = c.id
     ORDER BY c.number FOR UPDATE OF c`,
    rowsOf(rows),
  )
  await sql.run(
    `UPDATE millrace.credentials c
     SET last_used_at = greatest(c.last_used_at, r.at), state = coalesce(r.state, c.state),
       problem = CASE WHEN r.state IS NULL THEN c.problem ELSE r.problem END
     FROM json_to_recordset($1::text::json) AS r (id text, at bigint, state text, problem text) WHERE c.id = r.id`,
    rowsOf(rows),
  )
}

type SqlRow = Omit<CredentialRow, 'hosts' | 'fields'> & { hosts: string; fields: string }

const select = `
  SELECT c.id, w.id AS "workspaceId", c.name, c.kind, c.hosts, c.fields, c.sealed, c.created_at AS "createdAt",
    c.updated_at AS "updatedAt", c.updated_by AS "updatedBy", c.state, c.problem, c.last_used_at AS "lastUsedAt",
    c.token, c.token_version AS "tokenVersion", c.expires_at AS "expiresAt"
  FROM millrace.credentials c JOIN millrace.workspaces w ON w.number = c.workspace`

function rowOf({ hosts, fields, ...row }: SqlRow): CredentialRow {
  return {
    ...row,
    hosts: JSON.parse(hosts) as CredentialRow['hosts'],
    fields: JSON.parse(fields) as CredentialRow['fields'],
  }
}

async function byId(sql: Sql, id: string): Promise<CredentialRow | undefined> {
  const row = await sql.get<SqlRow>(`${select} WHERE c.id = $1`, id)
  return row && rowOf(row)
}

async function isTaken(sql: Sql, workspace: number, name: string, id: string): Promise<boolean> {
  const found = await sql.get(
    'SELECT 1 FROM millrace.credentials WHERE workspace = $1 AND name = $2 AND id <> $3',
    ...[workspace, storable(name), id],
  )
  return found !== undefined
}
